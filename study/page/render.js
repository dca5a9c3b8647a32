// Run by node: reads one JSON object on standard input and writes one, from file names to contents, on standard output.
// The page carries all it needs; its policy lets the scripts that are part of it run, and nothing be fetched.
'use strict';

const {createHash} = require('node:crypto');
const {readFileSync} = require('node:fs');
const vm = require('node:vm');

const job = JSON.parse(readFileSync(0, 'utf8'));
const library = readFileSync(job.library, 'utf8');
const echarts = require(job.library);
const drawing = [job.sheet, job.details, job.charts].join('\n');
const {charts, sheet} = vm.runInThisContext(`(() => {${drawing}\nreturn {charts: astrolabeCharts, sheet: astrolabeSheet};})()`);

const WIDTH = 1000;
// Characters that neither XML nor a terminal should meet.
const printable = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

function picture(figure, frame) {
    const drawn = charts.draw(figure, frame, job.report, 'light', WIDTH, true);
    const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width: WIDTH, height: drawn.height});
    for (const series of drawn.option.series) series.silent = true;  // nothing moves under a pointer
    chart.setOption(drawn.option);
    const svg = chart.renderToSVGString();
    chart.dispose();
    return printable(svg) + '\n';
}

/** Text that ends no script element, whatever is in it. */
const inScript = (text) => text.replace(/</g, '\\u003c').replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');
const inText = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

function page(files) {
    const program = `\n${drawing}\n${job.js}\n`;
    for (const script of [library, program]) {
        if (/<\/script|<!--/i.test(script)) throw new Error('a script cannot stand in a page');
    }
    // Texts of figures, which are data, do not run: they need no hash.
    const data = inScript(JSON.stringify({report: job.report, files}));
    const policy = `default-src 'none'; script-src ${hash(library)} ${hash(program)}; style-src 'unsafe-inline'; img-src data:`;
    const values = {policy, title: inText(sheet.shorten(job.report.study, 200)), css: job.css, library, data, program};
    return job.html.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

const files = {};
const pictures = {};
for (const figure of job.report.figures) {
    pictures[figure.name] = charts.frames(figure).map((frame) => {
        const name = frame ? `${figure.name}-${frame.point}.svg` : `${figure.name}.svg`;
        files[name] = picture(figure, frame);
        return name;
    });
}
files['index.html'] = page(pictures);
process.stdout.write(JSON.stringify(files));
