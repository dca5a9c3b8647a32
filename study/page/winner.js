// The map of winners: a cell for each setting, coloured by who is fastest, with the margin in it, or with
// contours of the margin where cells are small and both parameters numbers. Lines part the winners.
'use strict';

const astrolabeWinner = (() => {
    const {FONT, shorten, labelOf, valueText, widthOf, seriesStyle} = astrolabeSheet;
    const MOST_PANELS = 36;
    const LEVELS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 4, 9];  // of the margin: how much longer the next best takes

    /** Dark or light, whichever reads better on a colour of six digits. */
    function inkOn(colour) {
        const light = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.3 ? '#14181d' : '#ffffff';
    }

    function entryOf(contested, index) {
        const style = seriesStyle(index, contested);
        return Object.assign({value: contested.values[index], name: 's' + index, label: valueText(contested, contested.values[index], 36),
            ink: inkOn(style.colour)}, style);
    }

    /** "24 %", "2.4×": how much longer. */
    function longer(margin) {
        if (margin === null) return 'alone';
        if (margin < 0.0995) return `${(100 * margin).toFixed(1)} %`;
        return margin < 1 ? `${(100 * margin).toFixed(0)} %` : `${(1 + margin).toFixed(margin < 9 ? 1 : 0)}×`;
    }

    const isOpen = (certainty) => certainty === 'tie' || certainty === 'seeds';

    /**
     * Pieces of the line on which a grid of values has a level, by marching squares on the cells' centres: pairs of points in units of
     * cells. Null is no value: squares with one are left out.
     */
    function contour(values, level) {
        const pieces = [];
        const part = (a, b) => (level - a) / (b - a);
        for (let y = 0; y + 1 < values.length; ++y) {
            for (let x = 0; x + 1 < values[y].length; ++x) {
                const corners = [values[y][x], values[y][x + 1], values[y + 1][x + 1], values[y + 1][x]];
                if (corners.some((value) => value === null)) continue;
                const [a, b, c, d] = corners;
                const cuts = [];
                if (a < level !== b < level) cuts.push([x + part(a, b), y]);
                if (b < level !== c < level) cuts.push([x + 1, y + part(b, c)]);
                if (d < level !== c < level) cuts.push([x + part(d, c), y + 1]);
                if (a < level !== d < level) cuts.push([x, y + part(a, d)]);
                for (let i = 0; i + 1 < cuts.length; i += 2) pieces.push([cuts[i], cuts[i + 1]]);
            }
        }
        return pieces;
    }

    function draw(sheet, figure) {
        const {chart} = figure;
        const atMost = chart.budget === undefined ? null : chart.budget;
        const dimension = (place) => (place === null ? {name: '', values: [''], numbers: null}
            : sheet.report.dimensions.find((one) => one.name === figure.columns[place]));
        const contested = sheet.report.dimensions.find((one) => one.name === chart.contested);
        const rows = figure.rows.filter((row) => row[chart.at_most] === atMost);
        const x = dimension(chart.x);
        const y = dimension(chart.y);
        const winners = new Set(rows.map((row) => row[chart.winner]));
        const entries = contested.values.map((value, i) => entryOf(contested, i)).filter((entry) => winners.has(entry.value));
        const entry = new Map(entries.map((one) => [one.value, one]));
        sheet.legend(entries.map((one) => Object.assign({}, one, {symbol: 'roundRect'})), 'fastest:');

        const panels = new Map();
        for (const row of rows) {
            const values = chart.panels.map((place) => row[place]);
            const key = JSON.stringify(values);
            if (!panels.has(key)) panels.set(key, {values, rows: []});
            panels.get(key).rows.push(row);
        }
        const order = chart.panels.map((place) => dimension(place).values);
        const sorted = [...panels.values()].sort((a, b) => order.reduce(
            (sign, values, i) => sign || values.indexOf(a.values[i]) - values.indexOf(b.values[i]), 0));
        const drawn = sorted.slice(0, MOST_PANELS);

        const left = Math.min(150, Math.max(10, ...y.values.map((value) => widthOf(valueText(y, value, 18))))) + (chart.y === null ? 12 : 40);
        const cell = Math.max(44, Math.min(96, ...x.values.map((value) => Math.max(52, widthOf(valueText(x, value, 12)) + 10))));
        const wanted = left + 20 + cell * x.values.length;
        const columns = Math.max(1, Math.min(drawn.length, Math.floor((sheet.width - 8) / Math.min(wanted, sheet.width - 8))));
        const room = (sheet.width - 8) / columns;
        const width = Math.min(room - left - 20, 110 * x.values.length);
        const tall = Math.max(28, Math.min(40, 420 / y.values.length));
        const height = tall * y.values.length;
        const fits = width / x.values.length >= 40 && tall >= 16;
        drawn.forEach((panel, i) => {
            const column = i % columns;
            const head = chart.panels.length > 0 ? 24 : 4;
            const top = sheet.height + head;
            const start = 4 + column * room + left;
            if (chart.panels.length > 0) {
                const label = chart.panels.map((place, p) => `${labelOf(dimension(place))} ${valueText(dimension(place), panel.values[p])}`).join(', ');
                sheet.caption(label, start - 6, sheet.height, room - left);
            }
            drawPanel(sheet, figure, panel, {x, y, entry, start, top, width, height, fits, isFirst: column === 0, left});
            if (column === columns - 1 || i === drawn.length - 1) sheet.height = top + height + 48;
        });
        if (drawn.length < sorted.length) {
            sheet.caption(`${drawn.length} of ${sorted.length} panels are drawn; the CSV file has all.`, 12, sheet.height, sheet.width);
            sheet.height += 24;
        }
    }

    function drawPanel(sheet, figure, panel, {x, y, entry, start, top, width, height, fits, isFirst, left}) {
        const {chart} = figure;
        const placeX = new Map(x.values.map((value, i) => [value, i]));
        const placeY = new Map(y.values.map((value, i) => [value, i]));
        const at = (row) => [placeX.get(row[chart.x]), chart.y === null ? 0 : placeY.get(row[chart.y])];
        const index = sheet.grid(start, top, width, height,
            {type: 'category', data: x.values.map((_, i) => String(i)), name: labelOf(x), nameGap: 26,
                axisLabel: {interval: Math.ceil(x.values.length * 44 / width) - 1, hideOverlap: false, formatter: (i) => valueText(x, x.values[Number(i)], 12)}},
            {type: 'category', data: y.values.map((_, i) => String(i)), name: isFirst && chart.y !== null ? labelOf(y) : '', nameGap: left - 16,
                axisLabel: {interval: 0, hideOverlap: false, formatter: (i) => valueText(y, y.values[Number(i)], 18)}});
        const grid = y.values.map(() => x.values.map(() => null));
        for (const row of panel.rows) grid[at(row)[1]][at(row)[0]] = row;
        const cellWidth = width / x.values.length;
        const cellHeight = height / y.values.length;
        sheet.series(index, {
            type: 'custom', name: 'settings', encode: {x: 0, y: 1},
            data: panel.rows.map((row) => ({value: [...at(row), row[chart.margin]], lines: linesOf(sheet, figure, row), points: [row[chart.point]]})),
            renderItem: (params, api) => {
                const row = panel.rows[params.dataIndexInside];
                const one = entry.get(row[chart.winner]);
                const [cx, cy] = api.coord([api.value(0), api.value(1)]);
                const open = isOpen(row[chart.certainty]);
                const box = {x: cx - cellWidth / 2 + 1, y: cy - cellHeight / 2 + 1, width: cellWidth - 2, height: cellHeight - 2};
                const children = [{type: 'rect', shape: box, style: {fill: one.colour, opacity: open ? 0.3 : row[chart.certainty] === 'alone' ? 0.55 : 0.92}}];
                if (open) {
                    children.push({type: 'rect', shape: Object.assign({r: 2}, box), style: {fill: 'none', stroke: one.colour, lineWidth: 1.5, lineDash: [4, 3]}});
                }
                if (fits) {
                    children.push({type: 'text', style: {
                        x: cx, y: cy, text: longer(row[chart.margin]), align: 'center', verticalAlign: 'middle',
                        fontSize: 11, fontFamily: FONT, fill: open ? sheet.theme.text : one.ink,
                    }});
                }
                return {type: 'group', children};
            },
        });
        // A legend has an entry for a series alone.
        for (const one of entry.values()) sheet.series(index, {type: 'scatter', name: one.name, data: [], itemStyle: {color: one.colour}});
        drawBorders(sheet, index, grid, chart, cellWidth, cellHeight);
        if (!fits && x.numbers && y.numbers) drawContours(sheet, index, grid, chart, start, top, cellWidth, cellHeight, height);
    }

    /** Thick lines between neighbours with other winners. */
    function drawBorders(sheet, index, grid, chart, cellWidth, cellHeight) {
        const edges = [];
        const winner = (x, y) => (grid[y] && grid[y][x] ? grid[y][x][chart.winner] : null);
        grid.forEach((line, y) => line.forEach((row, x) => {
            if (row === null) return;
            if (winner(x + 1, y) !== null && winner(x + 1, y) !== winner(x, y)) edges.push([x, y, 1]);
            if (winner(x, y + 1) !== null && winner(x, y + 1) !== winner(x, y)) edges.push([x, y, 0]);
        }));
        if (edges.length === 0) return;
        sheet.series(index, {
            type: 'custom', name: 'borders', silent: true, z: 4, encode: {x: 0, y: 1}, data: edges,
            renderItem: (params, api) => {
                const [cx, cy] = api.coord([api.value(0), api.value(1)]);
                const w = cellWidth / 2;
                const h = cellHeight / 2;
                const shape = api.value(2) === 1 ? {x1: cx + w, y1: cy - h, x2: cx + w, y2: cy + h} : {x1: cx - w, y1: cy - h, x2: cx + w, y2: cy - h};
                return {type: 'line', shape, style: {stroke: sheet.theme.text, lineWidth: 2.5}};
            },
        });
    }

    function drawContours(sheet, index, grid, chart, start, top, cellWidth, cellHeight, height) {
        const values = grid.map((line) => line.map((row) => (row === null ? null : row[chart.margin])));
        const lines = LEVELS.map((level) => [level, contour(values, level)]).filter(([, pieces]) => pieces.length > 0);
        if (lines.length === 0) return;
        const place = ([x, y]) => [start + (x + 0.5) * cellWidth, top + height - (y + 0.5) * cellHeight];
        const children = lines.flatMap(([level, pieces]) => {
            const drawn = pieces.map(([from, to]) => {
                const [[x1, y1], [x2, y2]] = [place(from), place(to)];
                return {type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: sheet.theme.back, lineWidth: 1.4}};
            });
            const [x, y] = place(pieces[Math.floor(pieces.length / 2)][0]);
            return [...drawn, {type: 'text', style: {
                x, y, text: longer(level), align: 'center', verticalAlign: 'middle', fontSize: 10, fontFamily: FONT,
                fill: sheet.theme.text, backgroundColor: sheet.theme.back, padding: [1, 3], borderRadius: 2,
            }}];
        });
        sheet.series(index, {type: 'custom', name: 'contours', silent: true, z: 5, encode: {x: 0, y: 1}, data: [[0, 0]],
            renderItem: () => ({type: 'group', children})});
    }

    function linesOf(sheet, figure, row) {
        const {chart} = figure;
        const {amount} = astrolabeSheet;
        const circumstances = figure.columns.slice(0, chart.at_most).map((name, place) =>
            [labelOf(sheet.report.dimensions.find((one) => one.name === name)), row[place]]);
        const next = row[chart.runner_up] === null ? [] : [
            ['next best', `${shorten(row[chart.runner_up], 60)}, ${amount(row[chart.runner_up_value], 's')}`],
            ['takes longer by', longer(row[chart.margin])]];
        return [...circumstances, ['fastest', `${shorten(row[chart.winner], 60)}, ${amount(row[chart.value], 's')}`], ...next];
    }

    return {draw, longer, contour};
})();
