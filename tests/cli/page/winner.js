// The map of winners: margins in words, contours, and what a map has in it. Run by node; throws where something is wrong.
'use strict';

const assert = require('node:assert');
const {readFileSync} = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const page = path.join(__dirname, '..', '..', '..', 'study', 'page');
const sources = ['colours.js', 'sheet.js', 'panels.js', 'grids.js', 'stacks.js', 'costs.js', 'details.js', 'timelines.js', 'winner.js', 'charts.js'].map((file) => readFileSync(path.join(page, file), 'utf8'));
const {winner, charts} = vm.runInThisContext(`(() => {${sources.join('\n')}\nreturn {winner: astrolabeWinner, charts: astrolabeCharts};})()`);

assert.strictEqual(winner.longer(0.0123), '1.2 %');
assert.strictEqual(winner.longer(0.0996), '10 %');
assert.strictEqual(winner.longer(0.5), '50 %');
assert.strictEqual(winner.longer(1), '2.0×');
assert.strictEqual(winner.longer(null), 'alone');

// Of a plane that rises with x alone, the contour at 0.5 is the vertical at half a cell, in every line of squares.
const plane = [[0, 1, 2], [0, 1, 2], [0, 1, 2]];
assert.deepStrictEqual(winner.contour(plane, 0.5), [[[0.5, 0], [0.5, 1]], [[0.5, 1], [0.5, 2]]]);
// At a quarter of the way of x + y: from (0.5, 0) to (0, 0.5).
assert.deepStrictEqual(winner.contour([[0, 1], [1, 2]], 0.5), [[[0.5, 0], [0, 0.5]]]);
// A saddle has two pieces, and a square that lacks a corner none.
assert.strictEqual(winner.contour([[0, 1], [1, 0]], 0.5).length, 2);
assert.strictEqual(winner.contour([[0, null], [1, 2]], 0.5).length, 0);
assert.strictEqual(winner.contour(plane, 5).length, 0);

/** A map of n × n settings: the lower left is won by one, the rest by the other; the margin grows with the distance from the line. */
function mapOf(n) {
    const values = Array.from({length: n}, (_, i) => String(2 ** i));
    const numbers = values.map(Number);
    const rows = [];
    for (let x = 0; x < n; ++x) {
        for (let y = 0; y < n; ++y) {
            const ahead = (x + y + 1 - n) / n;
            rows.push([values[x], values[y], null, ahead > 0 ? 'b' : 'a', 1, ahead > 0 ? 'a' : 'b', 1 + Math.abs(ahead), Math.abs(ahead),
                Math.abs(ahead) <= 0.01 ? 'tie' : 'clear', 1]);
        }
    }
    const report = {dimensions: [{name: 'x', values, numbers}, {name: 'y', values, numbers}, {name: 'network', values: ['a', 'b'], numbers: null}]};
    const chart = {form: 'winner', x: 0, y: 1, panels: [], at_most: 2, winner: 3, value: 4, runner_up: 5, runner_up_value: 6, margin: 7, certainty: 8, point: 9,
        contested: 'network'};
    const columns = ['x', 'y', 'at_most_usd_per_host', 'winner', 'iteration_time_s', 'runner_up', 'runner_up_iteration_time_s', 'margin', 'certainty'];
    return {figure: {name: 'winner', title: 'who', chart, columns, rows}, report};
}

for (const [n, hasContours] of [[5, false], [24, true]]) {
    const {figure, report} = mapOf(n);
    const {option} = charts.draw(figure, null, report, 'light', 1000, true);
    const named = (name) => option.series.filter((series) => series.name === name);
    assert.strictEqual(named('settings')[0].data.length, n * n);
    // Along the staircase: each of its n - 1 steps has an edge beside it and one above it.
    assert.strictEqual(named('borders')[0].data.length, 2 * (n - 1));
    assert.strictEqual(named('contours').length, hasContours ? 1 : 0, `${n} × ${n}`);
    assert.strictEqual(option.legend.length, 2);
}
