// What the scripts of a report (study/page/) draw, as options of ECharts: needs neither ECharts nor a browser.
// Fails with what does not hold.
'use strict';

const assert = require('node:assert/strict');
const {readFileSync} = require('node:fs');
const {join} = require('node:path');
const vm = require('node:vm');

const read = (name) => readFileSync(join(__dirname, '../../../study/page', name), 'utf8');
const drawing = ['colours.js', 'sheet.js', 'panels.js', 'grids.js', 'stacks.js', 'costs.js', 'details.js', 'timelines.js', 'winner.js', 'charts.js'].map(read).join('\n');
const {charts, sheet} = vm.runInThisContext(`(() => {${drawing}\nreturn {charts: astrolabeCharts, sheet: astrolabeSheet};})()`);

const draw = (figure, report, frame = null) => charts.draw(figure, frame, report, 'light', 1000, false).option;
const captions = (option) => option.title.map((title) => title.text);
const says = (option, text) => captions(option).join(' ').includes(text);

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
    assert(!says(curves(3000), remark));
    // Every second one.
    assert.deepEqual(curves(6000).series.map((series) => series.data.length), [3000, 3000]);
    assert(says(curves(6000), remark));
}

function aThingHasOneColour() {
    // Kinds of network by their place in the program, whatever else is in the study; a second one of a kind is another shade.
    const alone = sheet.seriesStyle(0, {values: ['x'], numbers: null, kinds: [4]});
    const among = sheet.seriesStyle(2, {values: ['a', 'b', 'c', 'd'], numbers: null, kinds: [1, 2, 4, 4]});
    assert.equal(alone.colour, among.colour);
    assert.notEqual(sheet.seriesStyle(3, {values: ['a', 'b', 'c', 'd'], numbers: null, kinds: [1, 2, 4, 4]}).colour, among.colour);
    // A collective has one whether it is sent or waited for, whatever else there is.
    const waited = sheet.partColours(['compute', 'wait: all_to_all', 'drain']).get('wait: all_to_all');
    assert.equal(waited, sheet.partColours(['all_gather', 'all_reduce', 'all_to_all']).get('all_to_all'));
    // Operations of a kind are shades of it that differ.
    const shades = sheet.partColours(['wait: Embedding.forward.all_to_all', 'wait: Embedding.input_gradient.all_to_all']);
    assert.equal(new Set(shades.values()).size, 2);
}

function logarithmicAxesHaveNoBars() {
    const values = ['a', 'b'];
    const report = {dimensions: [{name: 'n', label: 'network', values, numbers: null}]};
    const figure = (form, log) => ({
        title: 't', columns: ['n', 'time_s'], rows: [['a', 1.2e-3], ['b', 1.9e-3]],
        chart: {form, x: null, series: 0, value: 1, panels: [], axis: {title: 'time', unit: 's', log}},
    });
    const dots = draw(figure('dots', true), report);
    assert.equal(dots.xAxis[0].type, 'log');
    assert(dots.series.every((series) => series.type === 'scatter'));
    const bars = draw(figure('bars', true), report);
    assert.equal(bars.xAxis[0].type, 'value');
    assert.equal(bars.xAxis[0].min, 0);
}

function panelsThatDifferByTenHaveTheirOwnScales() {
    const report = {dimensions: [{name: 'n', values: ['a'], numbers: null}, {name: 'p', label: 'load', values: ['x', 'y'], numbers: null}]};
    const ends = (most) => {
        const option = draw({
            title: 't', columns: ['n', 'p', 'speed_up'], rows: [['a', 'x', 1], ['a', 'y', most]],
            chart: {form: 'bars', x: null, series: 0, value: 2, panels: [1], axis: {title: 'speed-up', unit: 'x', log: false}},
        }, report);
        return [option.xAxis.map((axis) => axis.max), says(option, 'every panel has its own scale')];
    };
    assert.deepEqual(ends(9), [[10, 10], false]);
    assert.deepEqual(ends(10), [[1, 10], true]);
}

aThingHasOneColour();
logarithmicAxesHaveNoBars();
panelsThatDifferByTenHaveTheirOwnScales();
longCurvesAreThinnedByPanel();
numbersHaveThreeDigits();
parallelLinksShareACell();
