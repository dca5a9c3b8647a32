// Figures of single runs: ranks, links, tasks, timelines. Columns go by their names.
'use strict';

const astrolabeDetails = (() => {
    const columns = (figure) => Object.fromEntries(figure.columns.map((name, place) => [name, place]));
    const rowsOf = (figure, frame) => figure.rows.filter((row) => row[0] === frame.point);

    /** Names in the order in which they first occur. */
    const distinct = (names) => [...new Set(names)];

    function kindEntries(kinds, isScatter) {
        return kinds.map((kind, i) => ({
            kind, name: 'k' + i, label: kind.replace(/_/g, '-'), colour: astrolabeSheet.partColour(kind, i),
            symbol: isScatter ? (kind === 'compute' ? 'circle' : 'diamond') : undefined,
        }));
    }

    function ranks(sheet, figure) {
        const at = columns(figure);
        const {frames} = figure.chart;
        const {shorten, widthOf, amount} = astrolabeSheet;
        astrolabeSheet.shades(sheet, 0, 1, ['100 %', 'share of the time of the run: 0 %']);
        const label = (frame) => `${frame.point}: ${shorten(frame.values.map((value) => shorten(value, 20)).join(' · '), 44)}`;
        const left = Math.min(300, Math.max(...frames.map((frame) => widthOf(label(frame))))) + 16;
        const place = new Map(frames.map((frame, i) => [frame.point, i]));
        const names = distinct(figure.rows.map((row) => row[at.rank])).sort((a, b) => a - b);
        const column = new Map(names.map((name, i) => [name, i]));
        const height = Math.max(16, Math.min(26, 200 / frames.length)) * frames.length;
        for (const [title, value] of [['computing', at.compute_s], ['waiting for collectives', at.exposed_s], ['idle after the last computation', at.idle_s]]) {
            sheet.caption(title, left, sheet.height, sheet.width - left);
            const index = sheet.grid(left, sheet.height + 22, sheet.width - left - 24, height,
                {type: 'category', data: names.map(String), name: 'rank', nameGap: 24},
                {type: 'category', inverse: true, data: frames.map((_, i) => String(i)),
                    axisLabel: {interval: 0, hideOverlap: false, formatter: (i) => label(frames[Number(i)])}});
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
        astrolabeSheet.shades(sheet, 0, most, [amount(most, '%'), 'link utilisation: 0 %']);
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
            sheet.caption('of parallel links the busiest', 12, sheet.height, sheet.width);
            sheet.height += 22;
        }
        const names = nodes.map((node) => shorten(node, 16));
        const margin = Math.max(...names.map(widthOf)) + 30;
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

    function tasks(sheet, figure, frame) {
        const at = columns(figure);
        const rows = rowsOf(figure, frame);
        const {amount, unitFor, digits, range} = astrolabeSheet;
        const kinds = kindEntries(distinct(rows.map((row) => row[at.kind])), true);
        const [size, unit] = unitFor('s', range(rows.map((row) => row[at.finish_s]))[1]);
        sheet.legend(kinds, '');
        const index = sheet.grid(66, sheet.height + 8, sheet.width - 90, 320,
            {type: 'value', min: 0, max: Math.max(1, ...rows.map((row) => row[at.operation])), name: 'operation, in program order', nameGap: 28,
                axisLabel: {formatter: digits}},
            {type: 'value', min: 0, name: `completion (${unit})`, nameGap: 46, splitLine: {show: true}, axisLabel: {formatter: digits}});
        for (const kind of kinds) {
            sheet.series(index, {
                type: 'scatter', name: kind.name, symbol: kind.symbol, symbolSize: rows.length > 800 ? 4 : 7,
                itemStyle: {color: kind.colour, opacity: 0.85},
                data: rows.filter((row) => row[at.kind] === kind.kind).map((row) => ({
                    value: [row[at.operation], row[at.finish_s] / size],
                    lines: [['operation', row[at.name]], ['iteration', String(row[at.iteration])], ['kind', row[at.kind]],
                        ['issued', amount(row[at.issue_s], 's')], ['started', amount(row[at.start_s], 's')], ['completed', amount(row[at.finish_s], 's')]],
                })),
            });
        }
        sheet.height += 320 + 8 + 56;
    }

    function gantt(sheet, figure, frame) {
        const at = columns(figure);
        const rows = rowsOf(figure, frame);
        const {amount, unitFor, digits, range, shorten} = astrolabeSheet;
        const names = distinct(rows.map((row) => row[at.rank]));
        const kinds = kindEntries(distinct(['compute', ...rows.map((row) => row[at.kind])]));
        const lanes = kinds.length;
        const line = Math.max(24, lanes * 11 + 8);
        const [first, last] = range(rows.flatMap((row) => [row[at.begin_s], row[at.end_s]]));
        const [size, unit] = unitFor('s', last - first);
        sheet.legend(kinds, '');
        if (frame.remark) {
            sheet.caption(frame.remark, 12, sheet.height, sheet.width);
            sheet.height += 22;
        }
        const height = line * names.length;
        const index = sheet.grid(66, sheet.height + 6, sheet.width - 90, height,
            {type: 'value', min: 0, max: (last - first) / size, name: `time since the iteration began (${unit})`, nameGap: 28, splitLine: {show: true},
                axisLabel: {formatter: digits, showMaxLabel: false}},
            {type: 'category', inverse: true, data: names.map(String), name: 'rank', nameGap: 46, axisTick: {show: false}, splitLine: {show: true},
                axisLabel: {interval: 0, hideOverlap: false, formatter: (value) => shorten(value, 6)}});
        kinds.forEach((kind, lane) => {
            sheet.series(index, {
                type: 'custom', name: kind.name, clip: true, encode: {x: [1, 2], y: 0}, itemStyle: {color: kind.colour},
                renderItem: (params, api) => {
                    const from = api.coord([api.value(1), api.value(0)]);
                    const to = api.coord([api.value(2), api.value(0)]);
                    const pitch = (line - 6) / lanes;
                    return {
                        type: 'rect',
                        shape: {x: from[0], y: from[1] - line / 2 + 3 + lane * pitch, width: Math.max(0.6, to[0] - from[0]), height: pitch - 1},
                        style: {fill: kind.colour, opacity: lane === 0 ? 1 : 0.65},
                    };
                },
                data: rows.filter((row) => row[at.kind] === kind.kind).map((row) => ({
                    value: [names.indexOf(row[at.rank]), (row[at.begin_s] - first) / size, (row[at.end_s] - first) / size],
                    lines: [['rank', String(row[at.rank])], ['operation', row[at.name]], ['kind', row[at.kind]],
                        ['from', amount(row[at.begin_s] - first, 's')], ['for', amount(row[at.end_s] - row[at.begin_s], 's')]],
                })),
            });
        });
        sheet.height += height + 6 + 56;
    }

    return {
        FORMS: {
            ranks: {draw: ranks, byPoint: false},
            links: {draw: links, byPoint: true},
            tasks: {draw: tasks, byPoint: true},
            gantt: {draw: gantt, byPoint: true},
        },
    };
})();
