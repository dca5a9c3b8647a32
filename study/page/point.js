// What is known of the run of one point: a dialog beside the page.
'use strict';

const astrolabePoint = (() => {
    const {amount, shorten, partColours} = astrolabeSheet;
    const partColour = (name) => partColours([name]).get(name);
    const MOST_LINKS = 10;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    const section = (title, ...children) => element('section', {className: title === 'Results' ? 'two' : ''}, element('h3', {textContent: title}), ...children);
    const note = (text) => element('p', {className: 'note', textContent: text});
    const list = (entries) => element('dl', {}, ...entries.flatMap(([name, value]) =>
        [element('dt', {textContent: shorten(name, 80)}), element('dd', {textContent: shorten(value, 400)})]));

    /** Bars from zero: [name, share of the longest, text, colour]. A list, as a reader hears it. */
    function bars(entries) {
        const longest = Math.max(1e-300, ...entries.map(([, size]) => size));
        const widest = Math.max(...entries.map(([, , text]) => text.length));
        return element('ul', {className: 'bars', style: `--value: ${widest + 1}ch`}, ...entries.map(([name, size, text, colour]) => element('li', {},
            element('span', {className: 'name', textContent: shorten(name, 70), title: name}),
            element('span', {className: 'bar', ariaHidden: 'true'}, element('i', {style: `width: ${100 * size / longest}%; background: ${colour || 'var(--accent)'}`})),
            element('span', {className: 'value', textContent: text}))));
    }

    /** Of iterations by time: the mean of those between the first and the last, which neither fill nor drain a pipeline. */
    function middle(run) {
        if (!run.i || run.k !== 1 || run.n < 3) return null;
        const times = run.i.slice(1, -1);
        return times.reduce((sum, one) => sum + one, 0) / times.length;
    }

    function iterations(run) {
        if (!run.i) return [];
        const longest = Math.max(...run.i);
        const mean = run.t / run.n;
        const steady = middle(run);
        const facts = [['mean', `${amount(mean, 's')} over ${run.n} ${run.n === 1 ? 'iteration' : 'iterations'}`]];
        if (run.n >= 3) {
            facts.push(['steady', steady === null ? 'see operations of a run of its own'
                : `${amount(steady, 's')}, mean of iterations 2 to ${run.n - 1}; the last has the final communication tail`]);
        }
        const texts = run.i.map((time) => amount(time, 's'));
        const chart = element('div', {className: 'spark', role: 'img',
            ariaLabel: `times of iterations: ${texts.slice(0, 12).join(', ')}${texts.length > 12 ? ' and more' : ''}`},
        ...run.i.map((time, i) => element('i', {style: `height: ${Math.max(1, 100 * time / longest)}%`, title: `iteration ${1 + i * run.k}: ${texts[i]}`})));
        const made = [list(facts), chart];
        if (run.n <= 8) made.push(note(`one by one: ${texts.join(', ')}`));
        if (run.k > 1) made.push(note(`Of ${run.n} iterations every ${run.k}th is drawn.`));
        return [section('Iterations', ...made)];
    }

    function flows(run) {
        if (!run.s) return [];
        const [started, delivered, mean, most, slowdown, largest] = run.s;
        return [section('Flows', list([['delivered', `${delivered} of ${started}`], ['mean completion', amount(mean, 's')], ['99th percentile', amount(most, 's')],
            ['mean slowdown', amount(slowdown, 'x')], ['99th percentile of it', amount(largest, 'x')]]))];
    }

    /** Where the time of the whole run goes, mean over ranks. */
    function time(run) {
        if (run.t === undefined || run.c === undefined) return [];
        const waits = (run.w || []).filter(([, seconds]) => seconds > 0);
        const parts = [['computing', run.c, partColour('compute')],
            ...waits.map(([cause, seconds]) => [cause, seconds, partColour(cause)]),
            ...(run.r > 0 ? [['other causes of waiting', run.r, 'var(--muted)']] : []),
            ...(run.d > 0 ? [['final communication tail', run.d, partColour('drain')]] : [])];
        const entries = parts.filter(([, seconds]) => seconds > 0)
            .map(([name, seconds, colour]) => [name, seconds, `${amount(seconds, 's')}  ${amount(seconds / run.t, '%')}`, colour]);
        return [section('Where its time goes', note(`Of the whole run, ${amount(run.t, 's')}, mean over ranks: computing, waiting for each collective or computation that nothing hides, and what is still to be sent after the last computation.`), bars(entries))];
    }

    function causes(run) {
        if (!run.p || run.p.length === 0) return [];
        const [resource, share] = run.p[0];
        const most = (run.o || []).find((one) => one[1] === resource);
        const sentence = `${amount(share, '%')} of the critical path is ${resource}${most ? `, most of that in ${most[0]} (${amount(most[2], '%')} of the run)` : ''}.`;
        const made = [element('p', {textContent: shorten(sentence, 400)}), bars(run.p.map(([name, part]) => [name, part, amount(part, '%')]))];
        if (run.o && run.o.length > 0) {
            made.push(element('h4', {textContent: 'Longest operations on it'}),
                bars(run.o.map(([operation, on, part]) => [on ? `${operation}, ${on}` : operation, part, amount(part, '%'), partColour(operation)])));
        }
        if (!run.f) made.push(note('By operations only: causes were not followed through the network. `run --why` follows them.'));
        if (run.b) made.push(note(`Its lower bound is that of ${run.b}.`));
        return [section('What bounds it', ...made)];
    }

    function links(run, figure, frame) {
        const made = [];
        if (run && run.l) made.push(element('p', {textContent: `Busiest: ${shorten(run.l[0], 60)} → ${shorten(run.l[1], 60)}, ${amount(run.l[2], '%')} of its rate over the whole run.`}));
        const rows = frame && figure.rowsOf(frame);
        if (rows) {
            const at = Object.fromEntries(figure.columns.map((name, place) => [name, place]));
            const busiest = [...rows].sort((a, b) => b[at.utilization] - a[at.utilization]).slice(0, MOST_LINKS);
            made.push(bars(busiest.map((row) => [`${row[at.source]} → ${row[at.destination]}`, row[at.utilization], amount(row[at.utilization], '%')])));
        }
        return made.length > 0 ? [section('Links', ...made)] : [];
    }

    async function copy(text, code) {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch {
            const range = document.createRange();
            range.selectNodeContents(code);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            return document.execCommand('copy');
        }
    }

    function repeat(command, note_) {
        const code = element('code', {textContent: command, tabIndex: 0});
        const button = element('button', {type: 'button', className: 'small copy', textContent: 'Copy'});
        const said = element('span', {role: 'status', className: 'muted'});
        button.addEventListener('click', async () => {
            said.textContent = await copy(command, code) ? 'copied' : 'select it and copy';
        });
        return section('Run it again', element('div', {className: 'command'}, code, button, said), note(note_));
    }

    /** The dialog of a page. `page` has the report, its rows and columns, and how things are drawn. */
    class PointPane {
        constructor(page) {
            this.page = page;
            this.list = [];
            this.at = 0;
            this.chart = null;
            this.title = element('h2', {id: 'point-title', tabIndex: -1});
            this.place = element('span', {className: 'muted', role: 'status'});
            this.content = element('div', {className: 'content'});
            const button = (text, label, act) => {
                const made = element('button', {type: 'button', className: 'small', textContent: text, ariaLabel: label, title: label});
                made.addEventListener('click', act);
                return made;
            };
            this.before = button('‹', 'point before (left arrow)', () => this.step(-1));
            this.after = button('›', 'next point (right arrow)', () => this.step(1));
            this.dialog = element('dialog', {id: 'point'}, element('header', {}, this.title, this.place, this.before, this.after,
                button('×', 'close (Escape)', () => this.dialog.close())), this.content);
            this.dialog.setAttribute('aria-labelledby', 'point-title');
            this.dialog.addEventListener('close', () => this.closed());
            this.dialog.addEventListener('click', (event) => {
                if (event.target === this.dialog) this.dialog.close();
            });
            this.dialog.addEventListener('keydown', (event) => {
                if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest('select, code')) return;
                if (event.key === 'ArrowLeft') this.step(-1);
                if (event.key === 'ArrowRight') this.step(1);
            });
            document.body.append(this.dialog);
        }

        get isOpen() { return this.dialog.open; }
        get number() { return this.page.numberOf(this.list[this.at]); }

        /** Places of points, the first of which is shown; the others are a step away. */
        show(list, at) {
            this.list = list;
            this.at = at;
            if (!this.isOpen) {
                this.opener = document.activeElement;
                this.dialog.showModal();
            }
            this.draw();
            this.title.focus({preventScroll: true});
        }

        step(by) {
            const at = this.at + by;
            if (at < 0 || at >= this.list.length) return;
            this.at = at;
            this.draw();
        }

        closed() {
            this.dispose();
            history.replaceState(null, '', location.pathname + location.search);
            if (this.opener && this.opener.isConnected && this.opener !== document.body) {
                this.opener.focus({preventScroll: true});
            } else {
                this.page.focusPoint(this.list[this.at]);
            }
        }

        dispose() {
            if (this.chart) this.chart.dispose();
            this.chart = null;
        }

        draw() {
            const {page} = this;
            const place = this.list[this.at];
            const number = page.numberOf(place);
            const run = page.report.run(place);
            const status = page.statusOf(place);
            this.title.textContent = `Point ${number}`;
            this.place.textContent = `${this.at + 1} of ${this.list.length}`;
            this.before.disabled = this.at === 0;
            this.after.disabled = this.at === this.list.length - 1;
            history.replaceState(null, '', `#point-${number}`);
            const error = status === 'failed' ? [section('Why it failed', element('pre', {className: 'bad', textContent: shorten(page.errorOf(place), 4000)}))] : [];
            const drawn = run ? [...flows(run), ...iterations(run), ...time(run), ...causes(run)] : [];
            const lost = status === 'done' && !run ? [note('More is not in this page, which would be larger than 2 MB; the command below prints it.')] : [];
            const frameOf = (name) => {
                const figure = page.report.figures.find((one) => one.name === name);
                const frame = figure && figure.chart.frames && figure.chart.frames.find((one) => one.point === number);
                return frame ? [figure, frame] : null;
            };
            const [figure, frame] = frameOf('links') || [null, null];
            this.dispose();
            this.content.replaceChildren(
                this.headline(status, page.timesOf(place), run),
                section('Parameters', list(page.parametersOf(place))), ...error,
                ...(status === 'done' ? [section('Results', list(page.resultsOf(place)))] : []),
                ...drawn, ...lost, ...links(run, figure, frame), ...this.timeline(frameOf('gantt'), status),
                ...this.command(number, status));
            this.content.scrollTop = 0;
            this.drawTimeline();
        }

        headline(status, {time, bound}, run) {
        if (status === 'missing') return element('p', {className: 'state muted', textContent: 'It has not finished.'});
        if (status === 'failed') return element('p', {className: 'state bad', textContent: 'It failed.'});
        if (run && run.s) return element('p', {className: 'state muted'}, element('b', {textContent: amount(run.s[2], 's')}), ` a flow, ${amount(run.s[4], 'x')} what it takes alone, on average`);
        if (time === null) return element('p', {className: 'state muted', textContent: 'It has finished.'});
        const above = bound > 0 ? `, ${(time / bound).toPrecision(3)} times its lower bound` : '';
        return element('p', {className: 'state muted'}, element('b', {textContent: amount(time, 's')}), ` an iteration${above}`);
    }

    command(number, status) {
            const {repeat: command} = this.page.report;
            if (!command || status !== 'done') return [];
            return [repeat(command.replace('{}', String(number)),
                'From the folder in which the report was drawn; it gives the same fingerprint. With --out FOLDER --timeline it writes all that happened, with --why it follows every cause, with --set it changes a value.')];
        }

        timeline(framed, status) {
            this.framed = framed;
            this.box = null;
            if (!framed) {
                return status === 'done' ? [section('Timeline', note('None was kept. `report: [gantt]` in the study keeps one of each point; --out FOLDER --timeline of the command below writes one of this point.'))] : [];
            }
            if (!framed[0].rowsOf(framed[1])) return [section('Timeline', note('It is not in this page, which would be larger than 2 MB; there is an SVG file beside it.'))];
            this.box = element('div', {className: 'chart', role: 'img', ariaLabel: 'what each rank did when, in the last iteration'});
            return [section('Timeline', note('Of the last iteration.'), this.box)];
        }

        drawTimeline() {
            if (!this.box) return;
            const [figure, frame] = this.framed;
            const {page} = this;
            const width = this.box.clientWidth || 560;
            const drawn = astrolabeCharts.draw(page.filters.figureOf(figure, frame, []), frame, page.report, page.theme(), width, false);
            drawn.option.tooltip = page.tooltip();
            this.dispose();
            this.box.style.height = `${drawn.height}px`;
            this.chart = echarts.init(this.box, null, {renderer: drawn.marks > 400 ? 'canvas' : 'svg', width, height: drawn.height});
            this.chart.setOption(drawn.option);
        }
    }

    return {PointPane, middle};
})();
