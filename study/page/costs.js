// Figures of time against the price of networks.
'use strict';

const astrolabeCosts = (() => {
    const {amount, labelOf, widthOf, range, unitFor, logAxis, linearAxis, scaledAxis, spansMuch, axisTitle} = astrolabeSheet;
    const {OWN_SCALES, columnOf, dimensionAt, titleOf, panelsOf, setScales, pointLines, seriesEntries, placePanels, labelEnds} = astrolabePanels;
    const MOST_FRONTS = 16;

    const costLines = (sheet, figure, row) => pointLines(sheet, figure, row, 's', [figure.chart.value])
        .concat([['price of the network', amount(row[figure.chart.x], '$')]]);

    function costAxis(costs, width) {
        const [dollars, currency] = unitFor('$', range(costs)[1]);
        const scale = range(costs).map((cost) => cost / dollars);
        const ticks = Math.max(2, Math.floor(width / 52));
        const axis = scale[0] > 0 && spansMuch(scale) ? logAxis(scale, ticks) : scaledAxis([scale[0], scale[1] * 1.02], ticks);
        return {dollars, axis: Object.assign({name: `price of the network, ${currency}`, nameGap: 28}, axis)};
    }

    const shareAt = (axis, value) => (axis.type === 'log' ? Math.log(value / axis.min) / Math.log(axis.max / axis.min)
        : (value - axis.min) / (axis.max - axis.min));

    /** Settings of the parameters that are not the network's, in order: {values, label, rows}. */
    function groupsOf(figure, report) {
        return panelsOf(figure, report, figure.chart.groups).map((panel) => ({
            values: figure.chart.groups.map((place) => panel.rows[0][place]), label: panel.label, short: panel.values.join(' · '), rows: panel.rows,
        }));
    }

    /** One panel: every network at every setting, and for each setting the line of those that nothing beats. A selection is one setting. */
    function pareto(sheet, figure, selection) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const groups = groupsOf(figure, sheet.report);
        const isChosen = (group) => !selection || group.values.every((value, i) => value === selection.values[i]);
        const [size, unit] = unitFor(axis.unit, range(columnOf(figure, chart.value))[1]);
        const scale = range(columnOf(figure, chart.value)).map((value) => value / size);
        const y = axis.log && scale[0] > 0 ? logAxis(scale, 8) : linearAxis(scale[1]);
        sheet.legend(series, titleOf(dimensionAt(figure, sheet.report, chart.series)) + ':');
        const fronts = groups.filter(isChosen).filter((group) => group.label !== '');
        const isNamed = fronts.length <= MOST_FRONTS;
        const room = isNamed ? Math.min(sheet.width * 0.3, range(fronts.map((group) => widthOf(group.short, 11)))[1]) + 8 : 0;
        const left = 58;
        const heading = chart.groups.map((place) => labelOf(dimensionAt(figure, sheet.report, place))).join(' · ');
        if (isNamed && fronts.length > 0) sheet.remark(`At the right ends: ${heading}.`);
        const right = isNamed && fronts.length > 0 ? room + 22 : 22;
        const width = sheet.width - 8 - left - right;
        const height = Math.max(240, isNamed ? fronts.length * 15 + 20 : 0);
        const top = sheet.height + 6;
        const {dollars, axis: x} = costAxis(columnOf(figure, chart.x), width);
        const index = sheet.grid(4 + left, top, width, height, x, Object.assign({name: axisTitle(axis, unit), nameGap: 42}, y));
        const place = (row) => [row[chart.x] / dollars, row[chart.value] / size];
        const labels = [];
        for (const group of groups) {
            const front = group.rows.filter((row) => row[chart.front] === 1).map(place).sort((a, b) => a[0] - b[0]);
            if (front.length === 0) continue;
            const end = [x.max, front[front.length - 1][1]];
            sheet.series(index, {
                type: 'line', name: 'front', silent: true, symbol: 'none', step: 'end', z: 1, data: front.concat([end]),
                lineStyle: {color: sheet.theme.muted, width: 1, type: 'dashed', opacity: isChosen(group) ? 0.9 : 0.15},
            });
            if (isChosen(group) && group.label !== '') {
                labels.push({label: group.short, colour: null, y: top + height * (1 - shareAt(y, end[1]))});
            }
        }
        for (const entry of series) {
            const data = groups.flatMap((group) => group.rows.filter((row) => row[chart.series] === entry.value).map((row) => ({
                value: place(row),
                itemStyle: Object.assign({opacity: isChosen(group) ? 1 : 0.12},
                    row[chart.front] === 1 && isChosen(group) ? {borderColor: sheet.theme.text, borderWidth: 1.2} : {}),
                lines: costLines(sheet, figure, row),
            })));
            sheet.series(index, {type: 'scatter', name: entry.name, symbol: entry.symbol, symbolSize: 9.5, clip: false, itemStyle: {color: entry.colour}, data});
        }
        if (isNamed) labelEnds(sheet, labels, 4 + left + width + 6, top, top + height, room);
        sheet.height = top + height + 50;
    }

    /** The least time that a budget buys, of each kind of network. */
    function budget(sheet, figure) {
        const {chart} = figure;
        const {axis} = chart;
        const series = seriesEntries(figure, sheet.report, chart.series);
        const [size, unit] = unitFor(axis.unit, range(columnOf(figure, chart.value))[1]);
        const panels = panelsOf(figure, sheet.report, chart.panels);
        const isOwn = setScales(panels, (rows) => range(rows.map((row) => row[chart.value])));
        const room = Math.min(150, range(series.map((entry) => widthOf(entry.label, 11)))[1]) + 6;
        const isDirect = series.length <= 12 && room <= Math.max(92, sheet.width * 0.2);
        if (!isDirect) sheet.legend(series, titleOf(dimensionAt(figure, sheet.report, chart.series)) + ':');
        const margins = {left: 58, right: isDirect ? room + 18 : 22, bottom: 52};
        const height = Math.max(190, isDirect ? series.length * 15 + 20 : 0);
        placePanels(sheet, figure, panels, {
            least: Math.min(sheet.width - 8, margins.left + margins.right + 175), heightOf: () => height, margins, remarks: isOwn ? [OWN_SCALES] : [],
        }, (panel, left, top, width, _, isFirst) => {
            const scale = panel.range.map((value) => value / size);
            const y = axis.log && scale[0] > 0 ? logAxis(scale, 7) : linearAxis(scale[1]);
            const {dollars, axis: x} = costAxis(columnOf(figure, chart.x), width);
            x.name = x.name.replace('price of the network', 'budget for the network');
            const index = sheet.grid(left, top, width, height, x, Object.assign({name: isFirst || isOwn ? axisTitle(axis, unit) : '', nameGap: 42}, y));
            const labels = [];
            for (const entry of series) {
                const rows = panel.rows.filter((row) => row[chart.series] === entry.value).sort((a, b) => a[chart.x] - b[chart.x]);
                if (rows.length === 0) continue;
                const last = rows[rows.length - 1][chart.value] / size;
                sheet.series(index, {
                    type: 'line', name: entry.name, step: 'end', symbol: entry.symbol, symbolSize: 8, clip: false,
                    lineStyle: {color: entry.colour, width: 2}, itemStyle: {color: entry.colour},
                    data: rows.map((row) => ({value: [row[chart.x] / dollars, row[chart.value] / size], lines: costLines(sheet, figure, row)}))
                        .concat([{value: [x.max, last], symbol: 'none', lines: costLines(sheet, figure, rows[rows.length - 1])}]),
                });
                if (isDirect) labels.push({label: entry.label, colour: entry.colour, y: top + height * (1 - shareAt(y, last))});
            }
            labelEnds(sheet, labels, left + width + 14, top, top + height, room);
        });
    }

    /** What a reader may pick out of a picture: all, or one setting. */
    function selections(figure, report) {
        if (figure.chart.form !== 'pareto') return [];
        const groups = groupsOf(figure, report);
        return groups.length < 2 ? [] : [{label: 'all', frame: null}, ...groups.map((group) => ({label: group.label, frame: {values: group.values}}))];
    }

    return {FORMS: {pareto, budget}, selections};
})();
