// What the scripts of a report (study/page/) draw, as options of ECharts: needs neither ECharts nor a browser.
// Fails with what does not hold.
'use strict';

const assert = require('node:assert/strict');
const {readFileSync} = require('node:fs');
const {join} = require('node:path');
const vm = require('node:vm');

const read = (name) => readFileSync(join(__dirname, '../../../study/page', name), 'utf8');
const drawing = ['sheet.js', 'details.js', 'charts.js'].map(read).join('\n');
const {charts, sheet} = vm.runInThisContext(`(() => {${drawing}\nreturn {charts: astrolabeCharts, sheet: astrolabeSheet};})()`);

const draw = (figure, report, frame = null) => charts.draw(figure, frame, report, 'light', 1000, false).option;
const captions = (option) => option.title.map((title) => title.text);

function numbersHaveThreeDigits() {
    const texts = [[0, '0'], [1, '1'], [0.5, '0.5'], [12.345, '12.3'], [999.4, '999'], [999.5, '1000'], [-999.7, '-1000'], [1000, '1000'],
        [123456.7, '123457']];
    for (const [value, text] of texts) assert.equal(sheet.digits(value), text);
    assert.equal(sheet.amount(0.0009996, 's'), '1000 µs');
}

function parallelLinksShareACell() {
    const frame = {point: 1, label: '', values: [], total: 1};
    const figure = {
        title: 'Links', chart: {form: 'links', frames: [frame]},
        columns: ['point', 'link', 'source', 'destination', 'utilization'],
        rows: [[1, 0, 'a', 'b', 0.25], [1, 1, 'b', 'a', 0.125], [1, 2, 'a', 'b', 0.75], [1, 3, 'a', 'b', 0.5]],
    };
    const option = draw(figure, {dimensions: []}, frame);
    const cells = option.series[0].data;
    // Columns are targets, rows sources; a is 0, b is 1.
    assert.deepEqual(cells.map((cell) => cell.value), [[1, 0, 0.75], [0, 1, 0.125]]);
    assert.deepEqual(cells[0].lines, [['from', 'a'], ['to', 'b'], ['utilisation of link 2', '75%'], ['utilisation of link 3', '50%'],
        ['utilisation of link 0', '25%']]);
    assert.deepEqual(cells[1].lines, [['link', '1'], ['from', 'b'], ['to', 'a'], ['utilisation', '12.5%']]);
    assert(captions(option).includes('of parallel links the busiest'));
    figure.rows.splice(2);
    assert(!captions(draw(figure, {dimensions: []}, frame)).includes('of parallel links the busiest'));
}

/** Two panels of one curve each, of `count` points. */
function curves(count) {
    const values = Array.from({length: count}, (_, i) => String(i + 1));
    const report = {dimensions: [{name: 'x', values, numbers: values.map(Number)}, {name: 'p', values: ['a', 'b'], numbers: null}]};
    const figure = {
        title: 'Curves', columns: ['x', 'p', 'time_s'], rows: ['a', 'b'].flatMap((p) => values.map((x) => [x, p, 1])),
        chart: {form: 'lines', x: 0, value: 2, series: null, panels: [1], axis: {title: 'time', unit: 's'}},
    };
    return draw(figure, report);
}

function longCurvesAreThinnedByPanel() {
    const remark = 'of long curves every so many values are drawn; the CSV file has all.';
    // 6000 points in all, but no more than 4000 in a panel.
    assert.deepEqual(curves(3000).series.map((series) => series.data.length), [3000, 3000]);
    assert(!captions(curves(3000)).includes(remark));
    // Every second one.
    assert.deepEqual(curves(6000).series.map((series) => series.data.length), [3000, 3000]);
    assert(captions(curves(6000)).includes(remark));
}

longCurvesAreThinnedByPanel();
numbersHaveThreeDigits();
parallelLinksShareACell();
