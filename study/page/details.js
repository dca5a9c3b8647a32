// Figures of single runs: ranks, links, bytes of ranks. Columns go by their names.
'use strict';

const astrolabeDetails = (() => {
    const columns = (figure) => Object.fromEntries(figure.columns.map((name, place) => [name, place]));
    const rowsOf = (figure, frame) => figure.rows.filter((row) => row[0] === frame.point);

    /** Names in the order in which they first occur. */
    const distinct = (names) => [...new Set(names)];

    function ranks(sheet, figure) {
        const at = columns(figure);
        const {frames} = figure.chart;
        const {shorten, widthOf, fitted, amount} = astrolabeSheet;
        astrolabeSheet.shades(sheet, 0, 1, ['100%', 'share of the time of the run: 0%']);
        const label = (frame) => `${frame.point}: ${shorten(frame.values.map((value) => shorten(value, 20)).join(' · '), 44)}`;
        const room = Math.min(300, sheet.width * 0.4, Math.max(...frames.map((frame) => widthOf(label(frame), 11))));
        const left = room + 18;
        const place = new Map(frames.map((frame, i) => [frame.point, i]));
        const names = distinct(figure.rows.map((row) => row[at.rank])).sort((a, b) => a - b);
        const column = new Map(names.map((name, i) => [name, i]));
        const height = Math.max(16, Math.min(26, 200 / frames.length)) * frames.length;
        for (const [title, value] of [['computing', at.compute_s], ['waiting for collectives', at.exposed_s], ['idle after the last computation', at.idle_s]]) {
            sheet.caption(title, left, sheet.height, sheet.width - left - 8);
            const index = sheet.grid(left, sheet.height + 22, sheet.width - left - 24, height,
                {type: 'category', data: names.map(String), name: 'rank', nameGap: 24},
                {type: 'category', inverse: true, data: frames.map((_, i) => String(i)),
                    axisLabel: {interval: 0, hideOverlap: false, formatter: (i) => fitted(label(frames[Number(i)]), room + 2, 11)}});
            sheet.series(index, {
                type: 'heatmap', progressive: 0,
                data: figure.rows.map((row) => {
                    const frame = frames[place.get(row[0])];
                    return {
                        value: [column.get(row[at.rank]), place.get(row[0]), row[value] / frame.total],
                        lines: [['point', frame.label], ['rank', String(row[at.rank])], [title, amount(row[value], 's')],
                            ['of the run', amount(row[value] / frame.total, '%')]],
                    };
                }),
            });
            sheet.height += height + 22 + 48;
        }
    }

    const MOST_NODES = 96;
    const MOST_PARALLEL = 24;

    /** Links by the nodes at their ends, those of a pair from the busiest on. */
    function pairsOf(rows, at) {
        const pairs = new Map();
        for (const row of rows) {
            const ends = JSON.stringify([row[at.source], row[at.destination]]);
            if (!pairs.has(ends)) pairs.set(ends, []);
            pairs.get(ends).push(row);
        }
        return [...pairs.values()].map((links) => links.sort((a, b) => b[at.utilization] - a[at.utilization]));
    }

    function links(sheet, figure, frame) {
        const at = columns(figure);
        const rows = rowsOf(figure, frame);
        const nodes = distinct(rows.flatMap((row) => [row[at.source], row[at.destination]]))
            .sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
        const most = Math.max(1e-9, ...rows.map((row) => row[at.utilization]));
        const {amount, shorten, widthOf} = astrolabeSheet;
        astrolabeSheet.shades(sheet, 0, most, [amount(most, '%'), 'link utilisation: 0%']);
        const ends = (row) => [['from', row[at.source]], ['to', row[at.destination]]];
        const lines = (row) => [['link', String(row[at.link])], ...ends(row), ['utilisation', amount(row[at.utilization], '%')]];
        const allLines = (parallel) => [...ends(parallel[0]),
            ...parallel.slice(0, MOST_PARALLEL).map((row) => [`utilisation of link ${row[at.link]}`, amount(row[at.utilization], '%')]),
            ...(parallel.length > MOST_PARALLEL ? [['links that are less busy', String(parallel.length - MOST_PARALLEL)]] : [])];
        if (nodes.length > MOST_NODES) {
            const wide = 64;
            const height = Math.max(120, Math.ceil(rows.length / wide) * 12);
            const index = sheet.grid(66, sheet.height + 8, sheet.width - 90, height,
                {type: 'category', data: Array.from({length: wide}, (_, i) => String(i)), name: 'links by number, 64 in a line', nameGap: 26},
                {type: 'category', inverse: true, data: Array.from({length: Math.ceil(rows.length / wide)}, (_, i) => String(rows[i * wide][at.link])),
                    name: 'first link of the line', nameGap: 46});
            sheet.series(index, {
                type: 'heatmap', progressive: 0,
                data: rows.map((row, i) => ({value: [i % wide, Math.floor(i / wide), row[at.utilization]], lines: lines(row)})),
            });
            sheet.height += height + 60;
            return;
        }
        const place = new Map(nodes.map((node, i) => [node, i]));
        const cells = pairsOf(rows, at);
        if (cells.length < rows.length) {
            sheet.remark('of parallel links the busiest');
        }
        const names = nodes.map((node) => shorten(node, 16));
        const margin = Math.max(...names.map((name) => widthOf(name, 11))) + 32;
        const side = Math.min(sheet.width - margin - 24, Math.min(640, Math.max(240, nodes.length * 20)));
        const every = Math.max(0, Math.ceil((13 * nodes.length) / side) - 1);
        const index = sheet.grid(margin, sheet.height + 8, side, side,
            {type: 'category', data: nodes.map((_, i) => String(i)), name: 'to', nameGap: margin - 18, splitLine: {show: true},
                axisLabel: {rotate: 90, interval: every, hideOverlap: false, formatter: (i) => names[Number(i)]}},
            {type: 'category', inverse: true, data: nodes.map((_, i) => String(i)), name: 'from', nameGap: margin - 18, splitLine: {show: true},
                axisLabel: {interval: every, hideOverlap: false, formatter: (i) => names[Number(i)]}});
        sheet.series(index, {
            type: 'heatmap', progressive: 0,
            data: cells.map((cell) => ({
                value: [place.get(cell[0][at.destination]), place.get(cell[0][at.source]), cell[0][at.utilization]],
                lines: cell.length === 1 ? lines(cell[0]) : allLines(cell),
            })),
        });
        sheet.height += side + margin + 16;
    }

    /** Bytes that each rank sends and receives: two rows of bars. */
    function exchanges(sheet, figure, frame) {
        const at = columns(figure);
        const rows = rowsOf(figure, frame);
        const {amount, unitFor, range, linearAxis, partColours} = astrolabeSheet;
        const colour = partColours(['all_to_all']).get('all_to_all');
        const [size, unit] = unitFor('B', range(rows.flatMap((row) => [row[at.sent_bytes], row[at.received_bytes]]))[1]);
        if (frame.points.length > 1) sheet.remark(`The same in the points ${frame.points.join(', ')}.`);
        const width = sheet.width - 84;
        const axis = linearAxis(range(rows.flatMap((row) => [row[at.sent_bytes], row[at.received_bytes]]))[1] / size, 5);
        for (const [title, value] of [['sent', at.sent_bytes], ['received', at.received_bytes]]) {
            const mean = rows.reduce((sum, row) => sum + row[value], 0) / rows.length;
            const most = range(rows.map((row) => row[value]))[1];
            sheet.caption(`${title}: mean ${amount(mean, 'B')}, most ${amount(most, 'B')}`, 62, sheet.height, sheet.width - 70);
            const index = sheet.grid(62, sheet.height + 24, width, 120,
                {type: 'category', data: rows.map((row) => String(row[at.rank])), name: 'rank', nameGap: 24},
                Object.assign({name: `bytes ${title}, ${unit}`, nameGap: 42}, axis));
            sheet.series(index, {
                type: 'bar', barCategoryGap: '20%', itemStyle: {color: colour},
                data: rows.map((row) => ({value: row[value] / size, lines: [['rank', String(row[at.rank])], [`bytes ${title}`, amount(row[value], 'B')]]})),
                markLine: {silent: true, symbol: 'none', label: {show: false}, data: [{yAxis: mean / size}],
                    lineStyle: {color: sheet.theme.text, type: 'dashed', width: 1}},
            });
            sheet.height += 24 + 120 + 48;
        }
    }

    return {FORMS: {ranks, links, exchanges}, columns, rowsOf, distinct};
})();
