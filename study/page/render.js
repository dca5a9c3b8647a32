// Run by node: reads one JSON object on standard input and writes one, from file names to contents, on standard output.
// The page carries all it needs (assemble.js); its policy lets the scripts that are part of it run, and nothing be fetched.
'use strict';

const {readFileSync} = require('node:fs');
const vm = require('node:vm');

const job = JSON.parse(readFileSync(0, 'utf8'));
const library = readFileSync(job.library, 'utf8');
const echarts = require(job.library);
const {drawing} = job;
const {charts, sheet} = vm.runInThisContext(`(() => {${drawing}\nreturn {charts: astrolabeCharts, sheet: astrolabeSheet};})()`);

// Of one or two columns of a paper, in pixels of 1/96 inch: 3.5 and 7.16 inches.
const WIDTH = job.columns === 1 ? 336 : 687;
// Characters that neither XML nor a terminal should meet.
const printable = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

/** Not every reader of SVG knows how to put the middle of a line somewhere; all know how to move it. */
const baselined = (svg) => svg.replace(/<text dominant-baseline="central"/g, '<text dy="0.35em"');

function picture(figure, frame) {
    const drawn = charts.draw(figure, frame, job.report, 'light', WIDTH, job.columns ? 'paper' : true);
    const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width: WIDTH, height: drawn.height});
    for (const series of drawn.option.series) series.silent = true;  // nothing moves under a pointer
    chart.setOption(drawn.option);
    const svg = chart.renderToSVGString();
    chart.dispose();
    return printable(baselined(svg)) + '\n';
}

const hasFrames = (figure) => charts.frames(figure)[0] !== null;
const {page} = vm.runInThisContext(`((require) => {${job.assemble}\nreturn astrolabeAssemble;})`)(require);

const files = {};
const pictures = {};
for (const figure of job.only ? [] : job.report.figures) {
    pictures[figure.name] = charts.frames(figure).map((frame) => {
        const name = `${charts.fileOf(figure, frame)}.svg`;
        files[name] = picture(figure, frame);
        return name;
    });
}
if (job.report.winner && !job.only) {
    files['winner.svg'] = picture(job.report.winner, null);
    pictures.winner = ['winner.svg'];
}
files['index.html'] = page(job, library, drawing, sheet, hasFrames, pictures);
process.stdout.write(JSON.stringify(files));
