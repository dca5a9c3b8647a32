// Figures of what time and traffic are made of: stacked bars, and collectives by kind.
'use strict';

const astrolabeStacks = (() => {
    const {FONT, amount, digits, labelOf, valueText, widthOf, fitted, range, unitFor, partColours, logAxis, linearAxis, axisTitle} = astrolabeSheet;
    const {OWN_SCALES, columnOf, dimensionAt, panelsOf, setScales, pointLines, placePanels} = astrolabePanels;
    const MOST_BARS = 600;
    const THICKNESS = 13;
    const ROW = 19;
    const SHARES = 10;  // bars whose sums differ by more have their shares drawn beside them

    const words = (part) => part.replace(/_/g, '-').replace(/^wait: /, 'waiting: ');

    /** Rows by the places of their values, with labels that name the first parameter where it changes. */
    function labelled(figure, report, rows) {
        const dimensions = figure.chart.bar.map((place) => dimensionAt(figure, report, place));
        const order = dimensions.map((dimension) => new Map(dimension.values.map((value, i) => [value, i])));
        rows.sort((a, b) => figure.chart.bar.reduce((sign, place, i) => sign || order[i].get(a[place]) - order[i].get(b[place]), 0));
        return rows.map((row, i) => {
            const texts = dimensions.map((dimension, d) => valueText(dimension, row[figure.chart.bar[d]], 24));
            const isSame = texts.length > 1 && i > 0 && rows[i - 1][figure.chart.bar[0]] === row[figure.chart.bar[0]];
            return (isSame ? texts.slice(1) : texts).join(' · ');
        });
    }

    const rowAxis = (labels, room) => ({
        type: 'category', inverse: true, data: labels.map((_, i) => String(i)), axisTick: {show: false},
        axisLabel: {interval: 0, hideOverlap: false, formatter: (value) => fitted(labels[Number(value)], room, 11)},
    });

    function stack(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const colours = partColours(chart.parts.map((part) => part.name));
        const parts = chart.parts.map((part, i) => Object.assign({colour: colours.get(part.name), key: 'p' + i}, part))
            .filter((part) => figure.rows.some((row) => row[part.column] > 0));
        const sum = (row) => parts.reduce((total, part) => total + row[part.column], 0);
        sheet.legend(parts.map((part) => ({name: part.key, label: words(part.name), colour: part.colour})), '');
        const panels = panelsOf(figure, sheet.report, chart.panels);
        for (const panel of panels) {
            panel.all = panel.rows.length;
            panel.labels = labelled(figure, sheet.report, panel.rows).slice(0, MOST_BARS);
            panel.rows = panel.rows.slice(0, MOST_BARS);
        }
        const isOwn = !chart.share && setScales(panels, (rows) => [0, range(rows.map(sum))[1]]);
        const hasShares = !chart.share && panels.some((panel) => {
            const [least, most] = range(panel.rows.map(sum).filter((value) => value > 0));
            return most >= SHARES * least;
        });
        const heading = chart.bar.map((place) => labelOf(dimensionAt(figure, sheet.report, place))).join(' · ');
        const room = Math.min(Math.max(100, sheet.width * 0.32), range(panels.flatMap((panel) => panel.labels.map((label) => widthOf(label, 11))))[1]);
        const margins = {left: room + 22, right: hasShares ? 14 : 62, bottom: 52, head: heading ? 16 : 0};
        const remarks = isOwn ? [OWN_SCALES] : [];
        if (hasShares) remarks.push('Times differ by a factor of ten or more: the right half shows the shares of each');
        placePanels(sheet, figure, panels, {
            least: Math.min(sheet.width - 8, margins.left + margins.right + (hasShares ? 330 : 150)),
            heightOf: (panel) => panel.rows.length * ROW + 6, margins, remarks,
        }, (panel, left, top, width, height) => {
            if (heading) sheet.rowHeading(heading, left - 8, top - 17, margins.left - 12, width);
            const [size, unit] = chart.share ? [0.01, '%'] : unitFor(axis.unit, panel.range[1]);
            const half = hasShares ? (width - 74) / 2 : width;
            bars(sheet, figure, panel, parts, {
                left, top, width: half, height, labels: rowAxis(panel.labels, room + 4), isShare: Boolean(chart.share), sum, unit,
                x: Object.assign({name: axisTitle(axis, unit), nameGap: 26}, chart.share ? linearAxis(100, half / 40) : linearAxis(panel.range[1] / size, half / 44)),
                size, hasSums: true,
            });
            if (hasShares) {
                bars(sheet, figure, panel, parts, {
                    left: left + half + 66, top, width: half, height, labels: Object.assign(rowAxis(panel.labels, 0), {axisLabel: {show: false}}),
                    isShare: true, sum, x: Object.assign({name: 'share, %', nameGap: 26}, linearAxis(100, half / 40)), size: 0.01, hasSums: false,
                });
            }
        });
    }

    /** Stacked bars in a grid of their own; no part that is there is thinner than a line. */
    function bars(sheet, figure, panel, parts, {left, top, width, height, labels, x, size, isShare, sum, unit, hasSums}) {
        const {axis} = figure.chart;
        const index = sheet.grid(left, top, width, height, x, labels);
        const columns = parts.map((part) => part.column);
        for (const part of parts) {
            sheet.series(index, {
                type: 'bar', name: part.key, stack: `all${index}`, barWidth: THICKNESS, barMinHeight: 1.5, itemStyle: {color: part.colour},
                data: panel.rows.map((row) => (row[part.column] > 0 ? {
                    value: isShare ? row[part.column] / sum(row) / 0.01 : row[part.column] / size,
                    lines: pointLines(sheet, figure, row, axis.unit, columns),
                } : null)),
            });
        }
        if (hasSums) {
            sheet.series(index, {
                type: 'bar', name: 'sum', stack: `all${index}`, barWidth: THICKNESS, silent: true, data: panel.rows.map(() => 0),
                label: {show: true, position: 'right', distance: 4, fontSize: 10.5, color: sheet.theme.muted, fontFamily: FONT,
                    formatter: (params) => (isShare ? amount(sum(panel.rows[params.dataIndex]), axis.unit) : `${digits(sum(panel.rows[params.dataIndex]) / size)} ${unit}`)},
            });
        }
    }

    /** Of each kind: how many, how large one of them is, and its share; side by side where there is room. */
    function collectives(sheet, figure) {
        const {chart} = figure;
        const kinds = [...new Set(columnOf(figure, chart.kind))].sort();
        const colours = partColours(kinds);
        sheet.legend(kinds.map((kind, i) => ({name: 'k' + i, label: words(kind), colour: colours.get(kind)})), '');
        const settings = new Map();
        for (const row of figure.rows) {
            const at = JSON.stringify(chart.bar.map((place) => row[place]));
            if (!settings.has(at)) settings.set(at, []);
            settings.get(at).push(row);
        }
        const drawn = [...settings.values()].slice(0, 60);
        const first = drawn.map((rows) => rows[0]);
        const settingLabels = labelled(figure, sheet.report, first);
        const byRow = new Map(drawn.map((rows) => [rows[0], rows]));
        const rows = first.flatMap((row) => byRow.get(row));
        const labels = first.flatMap((row, i) => byRow.get(row).map((_, n) => (n === 0 ? settingLabels[i] : '')));
        const heading = chart.bar.map((place) => labelOf(dimensionAt(figure, sheet.report, place))).join(' · ');
        const room = Math.min(sheet.width * 0.3, range(labels.map((label) => widthOf(label, 11)))[1]);
        const left = room + 24;
        const columns = [
            {place: chart.count, title: 'operations in an iteration', unit: '', isLog: false},
            {place: chart.size, title: 'payload of one', unit: 'B', isLog: true},
            {place: chart.share, title: 'share of the payload', unit: '%', isLog: false},
        ];
        const across = sheet.width >= 560 ? columns.length : 1;
        const width = (sheet.width - left - 8) / across;
        const height = rows.length * 17 + 6;
        columns.forEach((column, i) => {
            const isFirst = i % across === 0;
            const at = left + (i % across) * width;
            const values = rows.map((row) => row[column.place]);
            const [least, most] = range(values.filter((value) => value > 0));
            const [size, unit] = unitFor(column.unit, most);
            const top = sheet.height + (heading ? 18 : 4);
            const inner = width - 62;
            if (isFirst && heading) sheet.rowHeading(heading, at - 8, top - 17, left - 12, inner);
            const x = column.isLog ? logAxis([least / size, most / size], Math.max(2, Math.floor(inner / 46)))
                : linearAxis(column.unit === '%' ? 100 : most / size, Math.max(2, Math.floor(inner / 44)));
            const index = sheet.grid(at, top, inner, height, Object.assign({name: column.title + (unit ? `, ${unit}` : ''), nameGap: 26}, x),
                isFirst ? rowAxis(labels, room + 4) : Object.assign(rowAxis(labels, 0), {axisLabel: {show: false}}));
            kinds.forEach((kind, k) => {
                const found = rows.map((row, place) => [place, row]).filter(([, row]) => row[chart.kind] === kind && row[column.place] !== null);
                const data = found.map(([place, row]) => ({
                    value: [row[column.place] / size, place],
                    lines: pointLines(sheet, figure, row, 'B', []).concat([['kind', words(kind)], ['operations in an iteration', digits(row[chart.count])],
                        ['payload of one', amount(row[chart.size], 'B')], ['share', amount(row[chart.share], '%')]]),
                }));
                const label = {show: true, position: 'right', distance: 4, fontSize: 10.5, color: sheet.theme.muted, fontFamily: FONT,
                    formatter: (params) => amount(params.data.value[0] * size, column.unit)};
                const style = {name: 'k' + k, itemStyle: {color: colours.get(kind), opacity: 1}, label, clip: false};
                sheet.series(index, column.isLog ? Object.assign({type: 'scatter', symbolSize: 9, data}, style)
                    : Object.assign({type: 'bar', barWidth: 11, barGap: '-100%', data}, style));
            });
            if (i % across === across - 1) sheet.height = top + height + 50;
        });
        if (settings.size > drawn.length) sheet.remark(`${drawn.length} of ${settings.size} settings are drawn; the CSV file has all.`);
    }

    return {FORMS: {stack, collectives}};
})();
