// Scripts of the page (study/page/) by themselves: what assemble.js packs unpack.js reads, filters, and what a page that
// follows a sweep says. Needs no browser. Fails with what does not hold.
'use strict';

const assert = require('node:assert/strict');
const {readFileSync} = require('node:fs');
const {join} = require('node:path');
const vm = require('node:vm');
const zlib = require('node:zlib');

const read = (name) => readFileSync(join(__dirname, '../../../study/page', name), 'utf8');
const parts = ['colours.js', 'sheet.js', 'unpack.js', 'filters.js', 'live.js'].map(read).join('\n');
const {sheet, unpack, filters, live} = vm.runInThisContext(
    `(() => {${parts}\nreturn {sheet: astrolabeSheet, unpack: astrolabeUnpack, filters: astrolabeFilters, live: astrolabeLive};})()`);
const assemble = vm.runInThisContext(`((require) => {${read('assemble.js')}\nreturn astrolabeAssemble;})`)(require);

function whatIsDeflatedIsInflated() {
    let state = 1;
    const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
    const noise = Buffer.from(Array.from({length: 70000}, () => Math.floor(256 * random())));  // more than a stored block has
    const text = Buffer.from(Array.from({length: 20000}, () => `${Math.floor(50 * random())} waits for ${random()};`).join(' '));
    for (const bytes of [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(100000, 'ab'), noise, text]) {
        for (const options of [{level: 9}, {level: 0}, {level: 1}, {strategy: zlib.constants.Z_FIXED}, {strategy: zlib.constants.Z_HUFFMAN_ONLY}]) {
            assert.deepEqual(Buffer.from(unpack.inflate(zlib.deflateRawSync(bytes, options))), bytes);
        }
    }
    assert.throws(() => unpack.inflate(Buffer.from([0x05, 0xff, 0xff, 0xff, 0xff])));
}

/** `count` points of two networks and half as many batches, each with its time, and a timeline of the first of them. */
function report(count, rowsOfFrame = 2) {
    const points = Array.from({length: count}, (_, i) => i);
    const batches = [...new Set(points.map((i) => String(i >> 1)))];
    return {
        study: '<study>', dimensions: [{name: 'network', values: ['flat', 'torus'], numbers: null}, {name: 'batch', values: batches, numbers: batches.map(Number)}],
        figures: [
            {name: 'iteration_time', title: 'Time', note: '', chart: {form: 'bars'}, columns: ['network', 'batch', 'time_s'],
                rows: points.map((i) => [['flat', 'torus'][i % 2], String(i >> 1), (i + 1) / 7])},
            {name: 'gantt', title: 'Timeline', note: '', chart: {form: 'gantt', frames: points.slice(0, 4).map((i) => ({point: i + 1}))}, columns: ['point', 'begin_s'],
                rows: points.slice(0, 4).flatMap((i) => Array.from({length: rowsOfFrame}, (_, k) => [i + 1, Math.sin(1000 * i + k)]))},
        ],
        omitted: [], repeat: 'astrolabe run out --point {}',
        parameters: [{name: 'network', values: ['flat', 'torus'], at: points.map((i) => i % 2)}, {name: 'batch', values: batches, at: points.map((i) => i >> 1)}],
        points: {columns: ['point', 'status', 'time_s', 'fingerprint'], rows: points.map((i) => [i + 1, i === 3 ? 'failed' : 'done', i === 3 ? null : (i + 1) / 7, `f${i}`])},
        runs: points.map((i) => (i === 3 ? null : {n: 2, k: 1, i: [i, 2 * i], t: 3 * i})),
    };
}

const hasFrames = (figure) => figure.chart.form === 'gantt';

function pageOf(made) {
    const job = {html: '{{policy}}|{{title}}|{{css}}|{{data}}|{{library}}|{{program}}', css: '', unpack: '', js: '', report: made};
    return assemble.page(job, 'library', 'drawing', sheet, hasFrames, {iteration_time: ['iteration_time.svg']});
}

function whatIsPackedIsRead() {
    const made = report(600);
    const [policy, title, , data, library] = pageOf(made).split('|');
    assert(policy.startsWith("default-src 'none'; script-src 'sha256-"));
    assert.equal(title, '&#60;study&#62;');
    assert.equal(unpack.textOf(library), 'library');
    const got = unpack.read(JSON.parse(data));
    assert.deepEqual(got.files, {iteration_time: ['iteration_time.svg']});
    const rounded = (rows) => rows.map((row) => row.map((value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value)));
    for (const name of ['study', 'dimensions', 'parameters', 'omitted', 'repeat']) assert.deepEqual(got.report[name], made[name]);
    assert.deepEqual(got.report.points.columns, made.points.columns);
    assert.deepEqual(got.report.points.rows, rounded(made.points.rows));
    made.figures.forEach((figure, i) => assert.deepEqual(got.report.figures[i].rows, rounded(figure.rows)));
    assert.deepEqual(got.report.figures[1].rowsOf({point: 2}), rounded(made.figures[1].rows.slice(2, 4)));
    made.runs.forEach((run, i) => assert.deepEqual(got.report.run(i), run));
    assert.deepEqual(got.report.left, {runs: 0, frames: {}});
    // Not packed, as while a sweep runs.
    const plain = unpack.read(JSON.parse(JSON.stringify({report: made, files: {}})));
    assert.deepEqual(plain.report.run(2), made.runs[2]);
    assert.deepEqual(plain.report.figures[1].rowsOf({point: 2}), made.figures[1].rows.slice(2, 4));
}

function whatHasNoRoomIsLeftOut() {
    // 400,000 numbers of six random digits: more than 2 MB however they are packed, a quarter of them less.
    const page = pageOf(report(8, 400000));
    assert(page.length <= 2e6, String(page.length));
    const got = unpack.read(JSON.parse(page.split('|')[3])).report;
    assert.deepEqual(got.left, {runs: 0, frames: {gantt: [2, 3, 4]}});
    assert.equal(got.figures[1].rowsOf({point: 1}).length, 400000);
    assert.equal(got.figures[1].rowsOf({point: 2}), null);
    assert.deepEqual(got.run(7), {n: 2, k: 1, i: [7, 14], t: 21});
}

function figuresFollowFilters() {
    const {report: made} = unpack.read({report: report(8), files: {}});
    const statuses = made.points.rows.map((row) => row[1]);
    const shown = new filters.Filters(made, statuses);
    let calls = 0;
    shown.onFilter(() => { calls += 1; });
    const [network, batch, status] = shown.parameters;
    assert.equal(status.name, 'status');
    const numbers = made.points.rows.map((row) => row[0]);
    const times = () => shown.figureOf(made.figures[0], null, numbers).rows.map((row) => row[2]);
    assert.equal(times().length, 8);
    shown.select(network, [1]);            // torus: points 2, 4, 6, 8
    assert.equal(shown.shown, 4);
    assert.deepEqual(times(), [2 / 7, 4 / 7, 6 / 7, 8 / 7]);
    shown.select(batch, [0, 1]);           // of them those of the first two batches
    assert.deepEqual(times(), [2 / 7, 4 / 7]);
    shown.select(status, [0]);             // point 4 has failed
    assert.deepEqual(times(), [2 / 7]);
    assert.deepEqual(shown.state, [['network', ['torus']], ['batch', ['0', '1']], ['status', ['done']]]);
    const again = new filters.Filters(made, statuses);
    again.state = [...shown.state, ['gone', ['x']], ['network', ['torus', 'gone']]];
    assert.deepEqual([...again.visible], [...shown.visible]);
    shown.reset();
    assert.equal(times().length, 8);
    assert.equal(calls, 4);
}

function aPageSaysHowFarItsSweepIs() {
    const progress = {state: 'running', running: 2, left_s: 40, written: 1000, every_s: 2, late_s: 30};
    const count = {all: 24, done: 12, failed: 0, missing: 12};
    assert.deepEqual(live.stateOf(progress, count, 1001), {text: 'running: 12 of 24 done, 2 in progress, about 40 s left', isRunning: true, isBad: false});
    assert(live.stateOf(progress, count, 1030).isRunning);
    const late = live.stateOf(progress, count, 1030.5);
    assert(!late.isRunning);
    assert.match(late.text, /^no longer running: 12 of 24 done at \d\d:\d\d:\d\d, and nothing since; the same command goes on$/);
    assert.deepEqual(live.stateOf({...progress, state: 'interrupted'}, {...count, failed: 1}, 1001),
        {text: 'interrupted: 12 of 24 done, 1 failed; the same command goes on', isRunning: false, isBad: true});
}

whatIsDeflatedIsInflated();
whatIsPackedIsRead();
whatHasNoRoomIsLeftOut();
figuresFollowFilters();
aPageSaysHowFarItsSweepIs();
