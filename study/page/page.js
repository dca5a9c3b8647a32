// The page of a report: what is in it comes from the element "data". Every text enters the document as text.
'use strict';

(() => {
    const {report, files} = JSON.parse(document.getElementById('data').textContent);
    const MOST_ROWS = 2000;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    // Columns of the table of points go by their places: first these, then parameters and derived values, which may be called
    // as any other is, then what results have.
    const POINT = 0;
    const STATUS = 1;
    const ofResult = (name) => report.points.columns.lastIndexOf(name);
    const FINGERPRINT = ofResult('fingerprint');
    const ERROR = ofResult('error');
    const count = (status) => report.points.rows.filter((row) => row[STATUS] === status).length;

    function head() {
        const failed = count('failed');
        const missing = count('missing');
        const all = report.points.rows.length;
        const text = `${all} ${all === 1 ? 'point' : 'points'}: ${count('done')} done, ${failed} failed, ${missing} missing`;
        document.getElementById('head').append(
            element('h1', {textContent: report.study}),
            element('p', {className: failed + missing > 0 ? 'bad' : 'muted', textContent: text}));
    }

    // One picture, redrawn when the window, the colours or the point change.
    class Picture {
        constructor(figure, box) {
            this.figure = figure;
            this.box = box;
            this.frame = astrolabeCharts.frames(figure)[0];
            this.chart = null;
        }

        draw(theme) {
            const width = this.box.clientWidth || 1000;
            const drawn = astrolabeCharts.draw(this.figure, this.frame, report, theme, width, false);
            drawn.option.tooltip = tooltip(theme);
            if (this.chart) this.chart.dispose();
            this.box.style.height = `${drawn.height}px`;
            // A picture of many marks would be a document of as many elements.
            this.chart = echarts.init(this.box, null, {renderer: drawn.marks > 6000 ? 'canvas' : 'svg', width, height: drawn.height});
            this.chart.setOption(drawn.option);
        }
    }

    function tooltip(theme) {
        const {back, text, line} = astrolabeSheet.THEMES[theme];
        return {
            trigger: 'item', confine: true, backgroundColor: back, borderColor: line, textStyle: {color: text},
            formatter: (params) => {
                const lines = params.data && params.data.lines;
                if (!lines) return '';
                const box = element('div', {className: 'tip'});
                for (const [name, value] of lines) {
                    box.append(element('div', {}, `${astrolabeSheet.shorten(name, 60)}: `,
                        element('b', {textContent: astrolabeSheet.shorten(value, 160)})));
                }
                return box;
            },
        };
    }

    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const pictures = [];
    const themeNow = () => (dark.matches ? 'dark' : 'light');
    const drawAll = (theme) => pictures.forEach((picture) => picture.draw(theme));

    function figureElement(figure) {
        const box = element('div', {className: 'chart', id: `chart-${figure.name}`, role: 'img',
            ariaLabel: astrolabeSheet.shorten(figure.title, 160)});
        const picture = new Picture(figure, box);
        const frames = astrolabeCharts.frames(figure);
        const links = element('div', {className: 'files'});
        const showFiles = (place) => links.replaceChildren(
            element('a', {href: files[figure.name][place], textContent: 'SVG'}),
            element('a', {href: `${figure.name}.csv`, textContent: 'CSV'}));
        showFiles(0);
        const made = element('figure', {id: figure.name}, element('h2', {textContent: astrolabeSheet.shorten(figure.title, 160)}),
            element('p', {className: 'note', textContent: astrolabeSheet.shorten(figure.note, 1200)}));
        if (frames.length > 1) {
            const select = element('select', {ariaLabel: 'point'}, ...frames.map((frame, place) => element('option',
                {value: String(place), textContent: `${frame.point}: ${astrolabeSheet.shorten(frame.label, 140)}`})));
            select.addEventListener('change', () => {
                picture.frame = frames[Number(select.value)];
                showFiles(Number(select.value));
                picture.draw(themeNow());
            });
            made.append(select);
        } else if (frames[0] && frames[0].label) {
            made.append(element('p', {className: 'note', textContent: astrolabeSheet.shorten(frames[0].label, 200)}));
        }
        made.append(box, links);
        pictures.push(picture);
        return made;
    }

    function figures() {
        const contents = document.getElementById('contents');
        const place = document.getElementById('figures');
        for (const figure of report.figures) {
            contents.append(element('a', {href: `#${figure.name}`, textContent: astrolabeSheet.shorten(figure.title, 60)}));
            place.append(figureElement(figure));
        }
        contents.append(element('a', {href: '#points', textContent: 'Points'}));
        for (const {name, why} of report.omitted) {
            place.append(element('p', {className: 'note', textContent: `Not drawn: ${name}, for ${why}.`}));
        }
    }

    const QUANTITIES = new Map(['mean_iteration_time_s', 'lower_bound_s', 'compute_s', 'drain_s', 'all_reduce_share', 'mean_link_utilization',
        'max_link_utilization'].map((name) => [ofResult(name), name.endsWith('_s') ? 's' : '%']));
    const OF_RUN = new Set(['compute_s', 'drain_s'].map(ofResult));

    function cell(column, value) {
        if (value === null) return element('td', {textContent: ''});
        if (typeof value !== 'number') {
            const text = astrolabeSheet.shorten(value, 400);
            return column === FINGERPRINT ? element('td', {}, element('code', {textContent: text}))
                : element('td', {className: text.length <= 32 ? 'short' : '', textContent: text});
        }
        const text = QUANTITIES.has(column) ? astrolabeSheet.amount(value, QUANTITIES.get(column)) : String(value);
        return element('td', {className: 'number', textContent: text});
    }

    function heading(column) {
        const name = report.points.columns[column];
        const title = QUANTITIES.has(column) ? name.replace(/_s$/, '') + (OF_RUN.has(column) ? ', whole run' : '') : name;
        return astrolabeSheet.shorten(title.replace(/_/g, ' ').replace(/\./g, '.\u200b'), 60);
    }

    function points() {
        const place = document.getElementById('points');
        const {columns, rows} = report.points;
        const sameInAll = (column) => new Set(rows.map((row) => row[column])).size <= 1;
        const hidden = new Set([ERROR, ...['hosts', 'ranks'].map(ofResult).filter(sameInAll)]);
        const shown = [...columns.keys()].filter((column) => !hidden.has(column));
        const head = element('tr', {}, ...shown.map((column) => element('th', {textContent: heading(column)})));
        const body = rows.slice(0, MOST_ROWS).map((row) => element('tr', {className: row[STATUS] === 'failed' ? 'failed' : ''},
            ...shown.map((column) => cell(column, row[column]))));
        place.append(element('h2', {textContent: 'Points'}));
        const note = element('p', {className: 'note'}, 'All values: ', element('a', {href: 'points.csv', textContent: 'points.csv'}), '.');
        if (rows.length > MOST_ROWS) note.append(` The first ${MOST_ROWS} of ${rows.length} are shown.`);
        place.append(note, element('div', {className: 'wide'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body))));
        const failures = rows.filter((row) => row[STATUS] === 'failed');
        if (failures.length > 0) {
            place.append(element('h2', {textContent: 'Failed points'}), element('dl', {}, ...failures.slice(0, MOST_ROWS).flatMap((row) => [
                element('dt', {textContent: `point ${row[POINT]}`}),
                element('dd', {className: 'bad', textContent: astrolabeSheet.shorten(row[ERROR], 2000)})])));
        }
    }

    function foot() {
        document.getElementById('foot').append(element('dl', {},
            element('dt', {textContent: 'study'}), element('dd', {textContent: astrolabeSheet.shorten(report.study, 400)}),
            element('dt', {textContent: 'written by'}), element('dd', {textContent: `astrolabe ${report.version}`}),
            element('dt', {textContent: 'charts'}), element('dd', {textContent: `Apache ECharts ${echarts.version}`}),
            element('dt', {textContent: 'fingerprint'}), element('dd', {textContent: 'of each point in the table above: the same experiment gives the same one on any machine'})));
    }

    head();
    figures();
    points();
    foot();
    drawAll(themeNow());
    dark.addEventListener('change', () => drawAll(themeNow()));
    window.addEventListener('beforeprint', () => drawAll('light'));
    window.addEventListener('afterprint', () => drawAll(themeNow()));
    let waiting = 0;
    let width = document.body.clientWidth;
    window.addEventListener('resize', () => {
        if (document.body.clientWidth === width) return;
        width = document.body.clientWidth;
        clearTimeout(waiting);
        waiting = setTimeout(() => drawAll(themeNow()), 150);
    });
})();
