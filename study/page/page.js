// The page of a report: what is in it comes from the element "data". Every text enters the document as text.
'use strict';

const astrolabePage = (() => {
    const carried = document.getElementById('library');
    astrolabeUnpack.run(carried.textContent.trim());
    carried.remove();
    const {report, files} = astrolabeUnpack.read(JSON.parse(document.getElementById('data').textContent));
    const {shorten, amount} = astrolabeSheet;
    const MOST_EAGER = 400;        // points, of which all figures are drawn at once
    const MOST_SVG = 1500;         // marks; more would be a document of as many elements
    const MOST_DATA_ROWS = 500;
    const kept = astrolabeLive.kept();

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    // Columns of the table of points go by their places: first these, then parameters and derived values, which may be called
    // as any other is, then what results have.
    const POINT = 0;
    const STATUS = 1;
    const {columns, rows} = report.points;
    const ofResult = (name) => columns.lastIndexOf(name);
    const FINGERPRINT = ofResult('fingerprint');
    const ERROR = ofResult('error');
    const FIRST_RESULT = STATUS + 1 + report.parameters.length;
    const numbers = rows.map((row) => row[POINT]);
    const placeOf = new Map(numbers.map((number, place) => [number, place]));
    const statuses = rows.map((row) => row[STATUS]);
    const countOf = (status) => statuses.reduce((sum, one) => sum + (one === status ? 1 : 0), 0);
    const count = {all: rows.length, done: countOf('done'), failed: countOf('failed'), missing: countOf('missing')};
    const filters = new astrolabeFilters.Filters(report, statuses);
    const announce = (text) => { document.getElementById('announce').textContent = text; };

    // ---- Colours

    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    let chosen = kept.theme || 'system';
    let isPrinting = false;
    const themeNow = () => (isPrinting ? 'light' : chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen);

    function showTheme() {
        if (chosen === 'system') delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = chosen;
    }

    function themeControl() {
        const select = element('select', {id: 'theme', ariaLabel: 'colours'},
            ...[['system', 'Colours of the system'], ['light', 'Light'], ['dark', 'Dark']].map(([value, textContent]) => element('option', {value, textContent})));
        select.value = chosen;
        select.addEventListener('change', () => {
            chosen = select.value;
            showTheme();
            redraw();
        });
        return select;
    }

    // ---- Figures

    function tooltip() {
        const {back, text, line} = astrolabeSheet.THEMES[themeNow()];
        return {
            trigger: 'item', confine: true, backgroundColor: back, borderColor: line, textStyle: {color: text},
            formatter: (params) => {
                const lines = params.data && params.data.lines;
                if (!lines) return '';
                const box = element('div', {className: 'tip'});
                for (const [name, value] of lines) {
                    box.append(element('div', {}, `${shorten(name, 60)}: `, element('b', {textContent: shorten(value, 160)})));
                }
                return box;
            },
        };
    }

    /** Places of the points that a mark stands for: those that it names itself, or that have the parameters it tells. */
    function placesOf(figure, frame, data) {
        if (Array.isArray(data.points)) return data.points.map((number) => placeOf.get(number)).filter((place) => place !== undefined);
        if (frame && frame.point !== undefined) return [placeOf.get(frame.point)];
        const lines = data.lines || [];
        const framed = figure.chart.frames && lines[0] && figure.chart.frames.find((one) => one.label === lines[0][1]);
        if (framed) return [placeOf.get(framed.point)];
        // Tooltips have parameters and values in words.
        const {labelOf, valueText} = astrolabeSheet;
        const wanted = lines.flatMap(([name, value]) => {
            const dimension = report.dimensions.find((one) => one.name === name || labelOf(one) === name);
            if (!dimension) return [];
            const parameter = report.parameters.find((one) => one.name === dimension.name);
            const found = parameter && parameter.values.find((one) => one === value || valueText(dimension, one, 160) === value || valueText(dimension, one) === value);
            return [found === undefined ? undefined : [dimension.name, found]];
        });
        if (wanted.length === 0 || wanted.includes(undefined)) return [];
        const at = wanted.map(([name, value]) => {
            const parameter = report.parameters.find((one) => one.name === name);
            return [parameter.at, parameter.values.indexOf(value)];
        });
        return rows.flatMap((_, place) => (at.every(([by, value]) => by[place] === value) && filters.isVisible(place) ? [place] : []));
    }

    // One picture, redrawn when the window, the colours, the points or the choice of a run change.
    class Picture {
        constructor(figure, box, made) {
            Object.assign(this, {figure, box, made, frame: astrolabeCharts.frames(figure)[0], selection: null, chart: null, renderer: '', isStale: true, isNear: false});
            this.nothing = element('p', {className: 'nothing', hidden: true});
        }

        draw() {
            this.isStale = false;
            const shown = this.figure.rowsOf ? filters.figureOf(this.figure, this.frame, numbers) : this.figure;  // the answer's is of all points
            const isEmpty = shown.rows.length === 0;
            this.nothing.hidden = !isEmpty;
            this.nothing.textContent = this.frame && !this.figure.rowsOf(this.frame)
                ? 'This picture is not in the page, which would be larger than 2 MB; there is an SVG file beside it.' : 'None of the points that are shown is in this figure.';
            this.box.hidden = isEmpty;
            if (isEmpty) return;
            const width = this.box.clientWidth || 1000;
            const drawn = astrolabeCharts.draw(shown, this.selection || this.frame, report, themeNow(), width, false);
            drawn.option.tooltip = tooltip();
            const renderer = drawn.marks > MOST_SVG ? 'canvas' : 'svg';
            this.box.style.height = `${drawn.height}px`;
            if (this.chart && this.renderer === renderer) {
                this.chart.resize({width, height: drawn.height});
                this.chart.setOption(drawn.option, {notMerge: true, lazyUpdate: false});
            } else {
                if (this.chart) this.chart.dispose();
                this.renderer = renderer;
                this.chart = echarts.init(this.box, null, {renderer, width, height: drawn.height});
                this.chart.setOption(drawn.option);
                this.chart.on('click', (params) => {
                    const places = params.data ? placesOf(this.figure, this.frame, params.data) : [];
                    if (places.length > 0) pane.show(places, 0);
                });
            }
        }
    }

    const pictures = [];
    let isQueued = false;

    /** Draws pictures in or near sight that are stale, one a frame; the others when they come near. */
    function drawSome() {
        isQueued = false;
        const next = pictures.find((picture) => picture.isStale && picture.isNear);
        if (!next) return;
        next.draw();
        queue();
    }

    function queue() {
        if (!isQueued) requestAnimationFrame(drawSome);
        isQueued = true;
    }

    function redraw() {
        for (const picture of pictures) picture.isStale = true;
        if (rows.length <= MOST_EAGER) for (const picture of pictures) picture.draw();
        else queue();
        if (pane && pane.isOpen) pane.drawTimeline();
    }

    function watch() {
        const observer = new IntersectionObserver((entries) => {
            for (const entry of entries) pictures.find((picture) => picture.made === entry.target).isNear = entry.isIntersecting;
            queue();
        }, {rootMargin: '300px'});
        for (const picture of pictures) observer.observe(picture.made);
    }

    /** What a figure shows, for those who do not see it. */
    function summaryOf(figure) {
        const {chart} = figure;
        const place = typeof chart.value === 'number' ? chart.value : null;
        const all = place === null ? [] : figure.rows.filter((row) => typeof row[place] === 'number');
        if (all.length === 0) return `${figure.rowsOf(astrolabeCharts.frames(figure)[0])?.length || 0} rows of data; the table below has them.`;
        const unit = chart.axis ? chart.axis.unit : '';
        const [least, most] = all.reduce(([low, high], row) => [row[place] < low[place] ? row : low, row[place] > high[place] ? row : high], [all[0], all[0]]);
        const names = new Set(report.dimensions.map((one) => one.name));
        const where = (row) => figure.columns.flatMap((column, i) => (names.has(column) ? [`${column} ${shorten(row[i], 40)}`] : [])).join(', ');
        return `${all.length} values of ${chart.axis ? chart.axis.title : figure.columns[place]}, from ${amount(least[place], unit)} (${where(least)}) to ${amount(most[place], unit)} (${where(most)}).`;
    }

    /** The rows of a figure as a table, made when it is opened. */
    function dataOf(picture) {
        const {figure} = picture;
        const box = element('div', {className: 'wide data', tabIndex: 0, role: 'region', ariaLabel: `data of ${shorten(figure.title, 100)}`});
        const details = element('details', {className: 'table'}, element('summary', {textContent: 'Data'}), box);
        const show = () => {
            if (!details.open) return;
            const shown = filters.figureOf(figure, picture.frame, numbers);
            const body = shown.rows.slice(0, MOST_DATA_ROWS).map((row) => element('tr', {}, ...row.map((value) => element('td', {
                className: typeof value === 'number' ? 'number' : '', textContent: value === null ? '' : typeof value === 'number' ? Number(value.toPrecision(6)) : shorten(value, 120)}))));
            box.replaceChildren(element('table', {}, element('thead', {}, element('tr', {}, ...shown.columns.map((column) => element('th', {scope: 'col', textContent: shorten(column, 60)})))),
                element('tbody', {}, ...body)));
            if (shown.rows.length > MOST_DATA_ROWS) box.append(element('p', {className: 'note', textContent: `The first ${MOST_DATA_ROWS} of ${shown.rows.length} rows; the CSV file has all.`}));
        };
        details.addEventListener('toggle', show);
        return [details, show];
    }

    /** PDF files are made of pictures that are a figure's only one, or of all. */
    function fileLinks(svg, csv, isOnly) {
        const link = (href) => element('a', {href, textContent: href.slice(href.lastIndexOf('.') + 1).toUpperCase()});
        return [link(svg), ...(report.pdf === 2 || (report.pdf === 1 && isOnly) ? [link(svg.replace(/svg$/, 'pdf'))] : []), link(csv)];
    }

    /** The figure of the answer: its picture, and what draws it anew with other numbers. */
    function answerPicture(figure, box, made) {
        const picture = new Picture(figure, box, made);
        pictures.push(picture);
        return {
            nothing: picture.nothing,
            links: files.winner ? fileLinks(files.winner[0], 'winner.csv', true) : [],
            redraw: (other) => {
                picture.figure = other;
                if (box.isConnected && box.clientWidth > 0) picture.draw();
            },
        };
    }

    function figureElement(figure) {
        const box = element('div', {className: 'chart', id: `chart-${figure.name}`, role: 'img', ariaLabel: shorten(figure.title, 160)});
        const made = element('figure', {id: figure.name, ariaLabel: shorten(figure.title, 160)}, element('h2', {textContent: shorten(figure.title, 160)}),
            element('p', {className: 'note', textContent: shorten(figure.note, 1200)}));
        const picture = new Picture(figure, box, made);
        const frames = astrolabeCharts.frames(figure);
        const links = element('div', {className: 'files'});
        const summary = element('p', {className: 'unseen', id: `summary-${figure.name}`});
        const [data, showData] = dataOf(picture);
        const showFiles = (place) => {
            const own = files[figure.name];
            links.replaceChildren(...(own ? fileLinks(own[place], `${figure.name}.csv`, frames[place] === null) : []), data);
        };
        showFiles(0);
        const selections = astrolabeCharts.selections(figure, report);
        if (selections.length > 0) {
            const select = element('select', {ariaLabel: `setting of ${shorten(figure.title, 100)}`}, element('option', {value: '', textContent: 'all settings'}),
                ...selections.map(({label}, place) => element('option', {value: String(place), textContent: shorten(label, 140)})));
            select.addEventListener('change', () => {
                picture.selection = select.value === '' ? null : selections[Number(select.value)].frame;
                picture.draw();
            });
            made.append(select);
        } else if (frames.length > 1) {
            const select = element('select', {ariaLabel: `point of ${shorten(figure.title, 100)}`}, ...frames.map((frame, place) => element('option',
                {value: String(place), textContent: `${frame.point}: ${shorten(frame.label, 140)}`})));
            select.addEventListener('change', () => {
                picture.frame = frames[Number(select.value)];
                showFiles(Number(select.value));
                picture.draw();
                showData();
            });
            made.append(select);
        } else if (frames[0] && frames[0].label) {
            made.append(element('p', {className: 'note', textContent: shorten(frames[0].label, 200)}));
        }
        box.setAttribute('aria-describedby', summary.id);
        made.append(box, picture.nothing, summary, links);
        const summarise = () => { summary.textContent = summaryOf(figure); };
        if (rows.length <= MOST_EAGER) summarise();
        else setTimeout(summarise, 1000);
        filters.onFilter(showData);
        pictures.push(picture);
        return made;
    }

    function figures() {
        const contents = document.getElementById('contents');
        const place = document.getElementById('figures');
        for (const figure of report.figures) {
            contents.append(element('a', {href: `#${figure.name}`, textContent: shorten(figure.title, 60)}));
            place.append(figureElement(figure));
        }
        contents.append(element('a', {href: '#points', textContent: 'Points'}));
        for (const {name, why} of report.omitted) {
            place.append(element('p', {className: 'note', textContent: `Not drawn: ${name}, for ${why}.`}));
        }
    }

    // ---- Points

    const QUANTITIES = new Map(['mean_iteration_time_s', 'lower_bound_s', 'compute_s', 'drain_s', 'all_reduce_share', 'mean_link_utilization',
        'max_link_utilization'].map((name) => [ofResult(name), name.endsWith('_s') ? 's' : '%']));
    const OF_RUN = new Set(['compute_s', 'drain_s'].map(ofResult));

    function heading(column) {
        const name = columns[column];
        const title = column === ofResult('drain_s') ? 'final communication tail, whole run'
            : QUANTITIES.has(column) ? name.replace(/_s$/, '') + (OF_RUN.has(column) ? ', whole run' : '') : name;
        return shorten(title.replace(/_/g, ' ').replace(/\./g, '.\u200b'), 60);
    }

    function textOf(column, value) {
        if (value === null || value === undefined) return '';
        if (typeof value !== 'number') return shorten(value, 400);
        return QUANTITIES.has(column) ? amount(value, QUANTITIES.get(column)) : String(value);
    }

    /** Values of a dimension by size, whatever their units. */
    function sortValues(column) {
        const dimension = column < FIRST_RESULT && report.dimensions.find((one) => one.name === columns[column]);
        if (!dimension || !dimension.numbers) return (place) => rows[place][column];
        const {at, values} = report.parameters[column - STATUS - 1];
        const numberOf = new Map(dimension.values.map((value, i) => [value, dimension.numbers[i]]));
        return (place) => (at[place] < 0 ? null : numberOf.get(values[at[place]]));
    }

    function tableOfPoints() {
        const place = document.getElementById('points');
        const sameInAll = (column) => new Set(rows.map((row) => row[column])).size <= 1;
        const hidden = new Set([ERROR, ...['hosts', 'ranks'].map(ofResult).filter(sameInAll)]);
        const shown = [...columns.keys()].filter((column) => !hidden.has(column)).map((column) => {
            let longest = 0;
            let isNumber = true;
            for (const row of rows) {
                const value = row[column];
                if (value === null) continue;
                isNumber = isNumber && typeof value === 'number';
                longest = Math.max(longest, QUANTITIES.has(column) ? 8 : String(value).length);
            }
            return {
                title: heading(column), note: columns[column], longest, className: column === FINGERPRINT ? 'code' : isNumber ? 'number' : '',
                value: sortValues(column), text: (at) => textOf(column, rows[at][column]),
            };
        });
        const note = element('p', {className: 'note', id: 'count'});
        const box = element('div', {className: 'wide', id: 'table', tabIndex: 0, role: 'region', ariaLabel: 'table of points'});
        place.append(element('h2', {textContent: 'Points'}), note, box);
        const table = new astrolabeTable.PointTable(box, shown,
            {number: (at) => numbers[at], className: (at) => (statuses[at] === 'done' ? '' : statuses[at])},
            (at) => pane.show(table.order, table.order.indexOf(at)));
        const show = () => {
            table.show(rows.flatMap((_, at) => (filters.isVisible(at) ? [at] : [])));
            const text = filters.isActive ? `${filters.shown} of ${rows.length} points are shown.` : rows.length === 1 ? 'One point.' : `All ${rows.length} points.`;
            note.replaceChildren(`${text} `, ...(Object.keys(files).length > 0 ? ['All values: ', element('a', {href: 'points.csv', textContent: 'points.csv'}), '.'] : []));
            announce(text);
        };
        filters.onFilter(show);
        show();
        const failures = rows.filter((row) => row[STATUS] === 'failed');
        if (failures.length > 0) {
            place.append(element('h2', {textContent: 'Failed points'}), element('dl', {}, ...failures.slice(0, 200).flatMap((row) => [
                element('dt', {textContent: `point ${row[POINT]}`}),
                element('dd', {className: 'bad', textContent: shorten(row[ERROR], 2000)})])));
        }
        return table;
    }

    /** As PointPane wants to know it. */
    const pageOfPoint = {
        report, filters, tooltip, theme: () => themeNow(),
        numberOf: (place) => numbers[place],
        statusOf: (place) => statuses[place],
        timesOf: (place) => ({time: rows[place][ofResult('mean_iteration_time_s')], bound: rows[place][ofResult('lower_bound_s')]}),
        errorOf: (place) => rows[place][ERROR] || '',
        parametersOf: (place) => report.parameters.map((one) => [one.name, one.at[place] < 0 ? '–' : one.values[one.at[place]]]),
        resultsOf: (place) => [...columns.keys()].filter((column) => column >= FIRST_RESULT && column !== ERROR && rows[place][column] !== null)
            .map((column) => [heading(column), textOf(column, rows[place][column])]),
        focusPoint: (place) => {
            const at = table.order.indexOf(place);
            if (at >= 0) table.moveTo(at);
        },
    };

    // ---- Head, controls and foot

    function head() {
        const text = `${count.all} ${count.all === 1 ? 'point' : 'points'}: ${count.done} done, ${count.failed} failed, ${count.missing} missing`;
        document.getElementById('head').append(
            element('div', {className: 'title'}, element('h1', {textContent: report.study}),
                element('p', {className: count.failed + count.missing > 0 && !report.progress ? 'bad' : 'muted', textContent: text})),
            themeControl());
        document.title = report.study ? shorten(report.study, 200) : document.title;
        if (report.progress) {
            const box = element('div', {className: 'live', role: 'group', ariaLabel: 'the sweep'});
            document.getElementById('head').append(box);
            astrolabeLive.follow(box, report.progress, count, save);
        }
    }

    function filterControls() {
        const bar = document.getElementById('bar');
        const panel = document.getElementById('filters');
        if (filters.parameters.length === 0) return;
        const button = element('button', {type: 'button', id: 'filter-button', className: 'small'});
        const reset = element('button', {type: 'button', className: 'small', textContent: 'Show all', hidden: true});
        button.setAttribute('aria-controls', 'filters');
        const open = (isOpen) => {
            panel.hidden = !isOpen;
            button.setAttribute('aria-expanded', String(isOpen));
        };
        const show = () => {
            button.textContent = filters.isActive ? `Filter: ${filters.shown} of ${rows.length}` : 'Filter';
            button.classList.toggle('active', filters.isActive);
            reset.hidden = !filters.isActive;
        };
        button.addEventListener('click', () => open(panel.hidden));
        reset.addEventListener('click', () => {
            filters.reset();
            button.focus();
        });
        bar.addEventListener('keydown', (event) => {
            if (event.key !== 'Escape' || panel.hidden) return;
            open(false);
            button.focus();
        });
        const controls = element('div', {className: 'controls'}, button, reset);
        bar.insertBefore(controls, bar.firstChild);
        astrolabeFilters.controls(filters, panel);
        filters.onFilter(show);
        show();
        open(kept.isFilterOpen === true);
    }

    function foot() {
        document.getElementById('foot').append(element('dl', {},
            element('dt', {textContent: 'study'}), element('dd', {textContent: shorten(report.study, 400)}),
            element('dt', {textContent: 'written by'}), element('dd', {textContent: `astrolabe ${report.version}`}),
            element('dt', {textContent: 'charts'}), element('dd', {textContent: `Apache ECharts ${echarts.version}`}),
            element('dt', {textContent: 'fingerprint'}), element('dd', {textContent: 'of each point in the table above: the same experiment gives the same one on any machine'})));
    }

    /** What the reader did to the page, for when it is loaded again. */
    function save(more = {}) {
        astrolabeLive.keep(Object.assign(astrolabeLive.kept(), {
            theme: chosen, filters: filters.state, table: table.state, scroll: window.scrollY,
            isFilterOpen: !document.getElementById('filters').hidden, paneScroll: pane.isOpen ? pane.content.scrollTop : 0,
        }, more));
    }

    function openFromAddress() {
        const found = /^#point-(\d+)$/.exec(location.hash);
        const place = found ? placeOf.get(Number(found[1])) : undefined;
        if (place === undefined) return;
        const at = table.order.indexOf(place);
        if (at >= 0) pane.show(table.order, at);
        else pane.show([place], 0);
    }

    document.body.classList.toggle('many', rows.length > MOST_EAGER);
    showTheme();
    head();
    astrolabeAnswer.show(report, document.getElementById('answer'), answerPicture, (number) => {
        if (placeOf.has(number)) pane.show([placeOf.get(number)], 0);
    });
    figures();
    const table = tableOfPoints();
    filterControls();
    foot();
    const pane = new astrolabePoint.PointPane(pageOfPoint);
    filters.onFilter(redraw);
    if (kept.filters && kept.filters.length > 0) filters.state = kept.filters;
    else redraw();
    watch();
    if (kept.table) table.state = kept.table;
    openFromAddress();
    if (kept.scroll) window.scrollTo(0, kept.scroll);
    if (pane.isOpen && kept.paneScroll) pane.content.scrollTop = kept.paneScroll;
    window.addEventListener('hashchange', openFromAddress);
    window.addEventListener('pagehide', () => save());
    dark.addEventListener('change', redraw);
    window.addEventListener('beforeprint', () => {
        isPrinting = true;
        for (const picture of pictures) picture.draw();
        table.print(true);
    });
    window.addEventListener('afterprint', () => {
        isPrinting = false;
        redraw();
        table.print(false);
    });
    let waiting = 0;
    let width = document.body.clientWidth;
    window.addEventListener('resize', () => {
        if (document.body.clientWidth === width) return;
        width = document.body.clientWidth;
        clearTimeout(waiting);
        waiting = setTimeout(redraw, 150);
    });

    return {
        report,
        /** Calls `listener` whenever other points are shown. */
        onFilter: (listener) => filters.onFilter(listener),
        /** Numbers of the points that are shown. */
        shownPoints: () => numbers.filter((_, place) => filters.isVisible(place)),
        /** Opens the pane of the first of these points, by number; the others are a step away. */
        openPoints: (some) => {
            const places = some.map((number) => placeOf.get(number)).filter((place) => place !== undefined);
            if (places.length > 0) pane.show(places, 0);
        },
    };
})();
