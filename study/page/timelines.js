// Figures of single runs over time: when operations complete, and what ranks do. Columns go by their names.
'use strict';

const astrolabeTimelines = (() => {
    const {columns, rowsOf, distinct} = astrolabeDetails;

    function kindEntries(kinds, isScatter) {
        const colours = astrolabeSheet.partColours(kinds);
        return kinds.map((kind, i) => ({
            kind, name: 'k' + i, label: kind.replace(/_/g, '-'), colour: colours.get(kind),
            symbol: isScatter ? (kind === 'compute' ? 'circle' : 'diamond') : undefined,
        }));
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
            {type: 'value', min: 0, name: `completion, ${unit}`, nameGap: 46, splitLine: {show: true}, axisLabel: {formatter: digits}});
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
        const ofPoint = rowsOf(figure, frame);
        const own = ofPoint.filter((row) => row[at.iteration] === frame.iteration);
        const {amount, unitFor, digits, range, shorten} = astrolabeSheet;
        const [first, last] = range(own.flatMap((row) => [row[at.begin_s], row[at.end_s]]));
        const hangsOver = (row) => row[at.iteration] < frame.iteration && row[at.end_s] > first;
        const rows = ofPoint.filter((row) => row[at.iteration] === frame.iteration || hangsOver(row));
        const names = distinct(rows.map((row) => row[at.rank]));
        const kinds = kindEntries(distinct(['compute', ...rows.map((row) => row[at.kind])]));
        const place = new Map(names.map((name, i) => [name, i]));
        const lanes = kinds.length;
        const line = Math.max(24, lanes * 11 + 8);
        const [size, unit] = unitFor('s', last - first);
        sheet.legend(kinds, '');
        if (frame.remark) sheet.remark(frame.remark);
        const height = line * names.length;
        const index = sheet.grid(66, sheet.height + 6, sheet.width - 90, height,
            {type: 'value', min: 0, max: (last - first) / size, name: `time since the iteration began, ${unit}`, nameGap: 28, splitLine: {show: true},
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
                        style: api.value(3) ? {fill: 'none', stroke: kind.colour, lineWidth: 0.9, opacity: 0.9} : {fill: kind.colour, opacity: lane === 0 ? 1 : 0.7},
                    };
                },
                data: rows.filter((row) => row[at.kind] === kind.kind).map((row) => ({
                    value: [place.get(row[at.rank]), Math.max(0, row[at.begin_s] - first) / size, (Math.min(last, row[at.end_s]) - first) / size, hangsOver(row) ? 1 : 0],
                    lines: [['rank', String(row[at.rank])], ['operation', row[at.name]], ['kind', row[at.kind]], ['iteration', String(row[at.iteration])],
                        ['from', amount(row[at.begin_s] - first, 's')], ['for', amount(row[at.end_s] - row[at.begin_s], 's')]],
                })),
            });
        });
        sheet.height += height + 6 + 56;
    }

    return {FORMS: {tasks, gantt}};
})();
