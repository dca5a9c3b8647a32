// A page whose sweep runs: says how far it is, and loads itself again when the next page is due. What the reader did to the
// page is kept for it. A page that is late belongs to a sweep that was killed.
'use strict';

const astrolabeLive = (() => {
    const LEAST_MS = 5000;         // between two loads, which take the browser some time
    const REST_MS = 1500;   // without a pointer or key being used
    const MOST_POSTPONED_MS = 20000;

    function element(tag, properties, ...children) {
        const made = Object.assign(document.createElement(tag), properties);
        made.append(...children);
        return made;
    }

    const place = () => `astrolabe ${location.pathname}`;

    /** What was kept in this tab; nothing where the browser keeps nothing. */
    function kept() {
        try {
            return JSON.parse(sessionStorage.getItem(place())) || {};
        } catch {
            return {};
        }
    }

    function keep(state) {
        try {
            sessionStorage.setItem(place(), JSON.stringify(state));
        } catch {
            // A browser that keeps nothing shows the page from its beginning again.
        }
    }

    const countText = (count) => `${count.done} of ${count.all} done${count.failed > 0 ? `, ${count.failed} failed` : ''}`;
    const timeText = (seconds) => new Date(seconds * 1000).toLocaleTimeString('en-GB');

    function leftText(seconds) {
        if (!(seconds >= 1)) return '';
        return seconds < 90 ? `, about ${Math.round(seconds)} s left`
            : seconds < 5400 ? `, about ${Math.round(seconds / 60)} min left` : `, about ${(seconds / 3600).toFixed(1)} h left`;
    }

    /** What `progress` of the report comes to `now`, in seconds: its text, and whether another page is to come. */
    function stateOf(progress, count, now) {
        if (progress.state !== 'running') {
            return {text: `${progress.state}: ${countText(count)}; the same command goes on`, isRunning: false, isBad: true};
        }
        if (now - progress.written > progress.late_s) {
            return {
                text: `no longer running: ${countText(count)} at ${timeText(progress.written)}, and nothing since; the same command goes on`,
                isRunning: false, isBad: true,
            };
        }
        const running = progress.running > 0 ? `, ${progress.running} in progress` : '';
        return {text: `running: ${countText(count)}${running}${leftText(progress.left_s)}`, isRunning: true, isBad: count.failed > 0};
    }

    /** Into `box`; `save` is called before the page is loaded again. */
    function follow(box, progress, count, save) {
        const now = () => Date.now() / 1000;
        const line = element('p', {className: 'state'});
        const bar = element('progress', {max: count.all, value: count.done + count.failed, ariaLabel: 'points that have finished'});
        const button = element('button', {type: 'button', className: 'small'});
        let isPaused = kept().isPaused === true;
        let used = 0;
        const started = Date.now();
        for (const name of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchmove']) {
            window.addEventListener(name, () => { used = Date.now(); }, {passive: true, capture: true});
        }

        const load = () => {
            save({isPaused});
            location.reload();
        };

        function show() {
            const state = stateOf(progress, count, now());
            line.textContent = state.text;
            line.classList.toggle('bad', state.isBad);
            box.classList.toggle('running', state.isRunning);
            button.textContent = !state.isRunning ? 'Look again' : isPaused ? 'Follow' : 'Pause';
            button.title = !state.isRunning ? 'load the page again' : isPaused ? 'follow the sweep again' : 'stay at what is shown';
            return state.isRunning;
        }

        function tick() {
            if (!show() || isPaused || document.hidden) return;
            const due = Math.max(started + LEAST_MS, 1000 * (progress.written + progress.every_s + 0.3));
            const isBusy = Date.now() - used < REST_MS && Date.now() - due < MOST_POSTPONED_MS;
            if (Date.now() >= due && !isBusy) load();
        }

        button.addEventListener('click', () => {
            if (!stateOf(progress, count, now()).isRunning) {
                load();
            } else {
                isPaused = !isPaused;
                keep(Object.assign(kept(), {isPaused}));
                show();
            }
        });
        box.append(line, bar, button);
        const isRunning = show();
        if (isRunning) setInterval(tick, 500);
        return isRunning;
    }

    return {kept, keep, follow, stateOf};
})();
