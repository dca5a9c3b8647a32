// Run by node: a page from its parts. Scripts and data are packed (DEFLATE, then base64; unpack.js reads them), so that a
// page is small; what has no room below the limit is left out, which the page says.
'use strict';

const astrolabeAssemble = (() => {
    const {createHash} = require('node:crypto');
    const {deflateRawSync} = require('node:zlib');

    const MOST_BYTES = 1_990_000;
    const RUNS_IN_BLOCK = 256;

    const rounded = (_, value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value);
    const pack = (value) => deflateRawSync(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value, rounded), 'utf8'), {level: 9})
        .toString('base64');

    /** Rows by column: texts and what repeats as places in a list of the values. */
    function columnsOf({columns, rows}) {
        return {
            columns, count: rows.length,
            values: columns.map((_, place) => {
                const column = rows.map((row) => row[place]);
                const distinct = [...new Set(column)];
                if (column.every((value) => typeof value === 'number') && distinct.length > rows.length / 2) return {all: column};
                const at = new Map(distinct.map((value, i) => [value, i]));
                return {distinct, at: column.map((value) => at.get(value))};
            }),
        };
    }

    /** Blocks of data by name, as many as there is room for. */
    function packed(report, files, hasFrames, room) {
        const {points, runs, figures, ...rest} = report;
        const bare = figures.map(({rows, ...figure}) => figure);
        const blocks = {};
        const left = {runs: 0, frames: {}};
        const put = (name, text) => {
            blocks[name] = text;
            room -= name.length + text.length + 8;
        };
        put('points', pack(columnsOf(points)));
        for (const figure of figures.filter((one) => !hasFrames(one))) put(`figure ${figure.name}`, pack(columnsOf(figure)));
        room -= pack({...rest, figures: bare, files}).length + 2000;
        for (let first = 0; first < runs.length; first += RUNS_IN_BLOCK) {
            const text = pack(runs.slice(first, first + RUNS_IN_BLOCK));
            if (text.length + 40 > room) {
                left.runs = runs.length - first;
                break;
            }
            put(`runs ${first / RUNS_IN_BLOCK}`, text);
        }
        const framed = figures.filter(hasFrames);
        const most = Math.max(0, ...framed.map((figure) => figure.chart.frames.length));
        for (let i = 0; i < most; ++i) {
            for (const figure of framed.filter((one) => i < one.chart.frames.length)) {
                const {point} = figure.chart.frames[i];
                const name = `frame ${figure.name} ${point}`;
                if (name in blocks || (left.frames[figure.name] || []).includes(point)) continue;  // several pictures of a point
                const text = pack(columnsOf({columns: figure.columns, rows: figure.rows.filter((row) => row[0] === point)}));
                if (text.length + 40 > room) (left.frames[figure.name] ||= []).push(point);
                else put(name, text);
            }
        }
        return {form: 'packed', block: RUNS_IN_BLOCK, head: pack({...rest, figures: bare, files, left}), blocks};
    }

    /** Text that ends no script element, whatever is in it. */
    const inScript = (text) => text.replace(/</g, '\\u003c').replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');
    const inText = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
    const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

    /** @returns {string} the page; without a report's data where `job.only` is "shell". */
    function page(job, library, drawing, sheet, hasFrames, files) {
        const program = `\n${job.unpack}\n${drawing}\n${job.js}\n`;
        if (/<\/script|<!--/i.test(program)) throw new Error('a script cannot stand in a page');
        const policy = `default-src 'none'; script-src ${hash(library)} ${hash(program)}; style-src 'unsafe-inline'; img-src data:`;
        const values = {policy, title: inText(sheet.shorten(job.report.study, 200)), css: job.css, library: pack(library), program};
        const fill = (data) => job.html.replace(/\{\{(\w+)\}\}/g, (mark, name) => (name === 'data' ? data : values[name]));
        if (job.only === 'shell') return fill('{{data}}');
        return fill(inScript(JSON.stringify(packed(job.report, files, hasFrames, MOST_BYTES - Buffer.byteLength(fill(''))))));
    }

    return {page};
})();
