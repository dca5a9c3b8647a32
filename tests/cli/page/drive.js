// Uses a page as a reader does, in headless Chromium, and fails with what does not hold. What it saw it tells as JSON on
// standard output.
//   node drive.js CHROMIUM PROFILE_FOLDER URL tour|frames|state
'use strict';

const assert = require('node:assert/strict');
const {withBrowser} = require('./browser.js');

const [chromium, profile, url, what] = process.argv.slice(2);
const page = url.replace(/#.*/, '');

/** Runs in the page: what of it the tour looks at. */
function look() {
    const dialog = document.querySelector('dialog');
    const text = (selector) => document.querySelector(selector)?.innerText ?? null;
    const active = document.activeElement;
    return {
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        count: text('#count'), said: text('#announce'), rows: document.querySelectorAll('#table tbody tr:not(.pad)').length,
        first: text('#table tbody tr:not(.pad) th'), sorted: document.querySelector('th[aria-sort]')?.getAttribute('aria-sort') ?? null,
        isOpen: dialog.open, title: text('#point-title'), paneOverflow: dialog.scrollWidth - dialog.clientWidth, hash: location.hash,
        sections: [...dialog.querySelectorAll('h3')].map((one) => one.textContent), command: dialog.querySelector('.command code')?.textContent ?? null,
        inPane: [...dialog.querySelectorAll('.chart svg, .chart canvas')].length,
        isFocusInside: dialog.contains(active), focus: active.textContent, focusName: active.getAttribute('aria-label'),
        back: getComputedStyle(document.body).backgroundColor,
        networks: [...new Set((document.getElementById('chart-iteration_time') ? echarts.getInstanceByDom(document.getElementById('chart-iteration_time')) : null)?.getOption().series
            .flatMap((series) => series.data || []).flatMap((item) => (item && item.lines) || [])
            .filter(([name]) => name === 'network').map(([, value]) => value))],
        charts: [...document.querySelectorAll('figure .chart')].map((box) => ({
            name: box.id, role: box.getAttribute('role'), label: box.getAttribute('aria-label'),
            summary: document.getElementById(box.getAttribute('aria-describedby'))?.textContent ?? '', isShown: !box.hidden && box.childElementCount > 0})),
        nameless: [...document.querySelectorAll('button, a, select, input, [role=region]')]
            .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML.slice(0, 120)),
    };
}

const KEYS = {Tab: 9, Enter: 13, Escape: 27, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, ' ': 32};

class Reader {
    constructor(browser) { this.browser = browser; }

    look() { return this.browser.run(look.toString()); }

    async press(key) {
        const name = key === ' ' ? 'Space' : key;
        const text = key === 'Enter' ? '\r' : key === ' ' ? ' ' : undefined;
        await this.browser.send('Input.dispatchKeyEvent', {type: 'keyDown', key, code: name, windowsVirtualKeyCode: KEYS[key], text});
        await this.browser.send('Input.dispatchKeyEvent', {type: 'keyUp', key, code: name, windowsVirtualKeyCode: KEYS[key]});
        await this.rest();
    }

    /** In the middle of what a selector finds, the `at`-th of them. */
    async click(selector, at = 0) {
        const place = await this.browser.run(`(selector, at) => {
            const found = document.querySelectorAll(selector)[at];
            found.scrollIntoView({block: 'center'});
            const {left, top, width, height} = found.getBoundingClientRect();
            return [left + width / 2, top + height / 2];
        }`, selector, at);
        await this.clickAt(...place);
    }

    async clickAt(x, y) {
        for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) {
            await this.browser.send('Input.dispatchMouseEvent', {type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: 1});
        }
        await this.rest();
    }

    /** Until what was done is drawn. */
    rest() { return this.browser.run('() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'); }
}

/** What holds of a page at any width. */
function expectWhole(seen) {
    assert(seen.overflow <= 0, `the page is ${seen.overflow} pixels too wide`);
    assert.deepEqual(seen.nameless, []);
    for (const {name, role, label, summary} of seen.charts) {
        assert.equal(role, 'img', name);
        assert(label && summary, `${name} has no name or summary`);
    }
}

/** A page of four points on networks flat and torus, with a timeline of each. */
async function tour(browser, width) {
    const reader = new Reader(browser);
    await browser.size(width, 900);
    await browser.scheme('light');
    await browser.open(page);
    let seen = await reader.look();
    expectWhole(seen);
    assert.equal(seen.rows, 4);
    assert(seen.charts.every((chart) => chart.isShown));

    // The keyboard reaches the skip links, the colours, the filter.
    await reader.press('Tab');
    assert.equal((await reader.look()).focus, 'To the figures');
    const reached = [];
    for (let i = 0; i < 12 && reached[reached.length - 2] !== 'Filter'; ++i) {
        await reader.press('Tab');
        const {focus, focusName} = await reader.look();
        reached.push(focusName || focus);
    }
    // Between the colours and the filter is what the answer has to open.
    assert.deepEqual(reached.slice(0, 3), ['To the table of points', 'colours', 'SVG']);
    assert.deepEqual(reached.slice(-2)[0], 'Filter');
    assert.match(reached.slice(-1)[0], /^How long/);

    // Filters: by mouse and by keyboard; figures, table and counts follow.
    await reader.click('#filter-button');
    await reader.click('#filters .chip', 0);
    seen = await reader.look();
    assert.match(seen.count, /^2 of 4 points are shown\./);
    assert.equal(seen.said, '2 of 4 points are shown.');
    assert.equal(seen.rows, 2);
    assert.deepEqual(seen.networks, ['flat']);
    expectWhole(seen);
    await browser.run("() => document.querySelectorAll('#filters .chip')[1].focus()");
    await reader.press(' ');       // both networks, which is all
    seen = await reader.look();
    assert.match(seen.count, /^All 4 points\./);
    assert.deepEqual(seen.networks, ['flat', 'torus']);
    await reader.click('#filters .chip', 1);
    assert.deepEqual((await reader.look()).networks, ['torus']);
    await reader.press('Escape');  // closes the filters
    assert.equal(await browser.run("() => document.getElementById('filters').hidden"), true);

    // Loaded again, it shows what was selected.
    await browser.open(page);
    seen = await reader.look();
    assert.equal(seen.rows, 2);
    await reader.click('#bar .controls button', 1);
    assert.equal((await reader.look()).rows, 4);

    // The table: sorted by a heading, by mouse and by keyboard.
    await reader.click('#table thead button', 0);
    assert.equal((await reader.look()).sorted, 'ascending');
    await reader.press('Enter');
    seen = await reader.look();
    assert.deepEqual([seen.sorted, seen.first], ['descending', '4']);
    await reader.press('Enter');
    seen = await reader.look();
    assert.deepEqual([seen.sorted, seen.first], [null, '1']);

    // A row is opened by Enter; arrows go on; Escape closes, and the focus is where it was.
    await browser.run("() => document.querySelector('#table tbody a').focus()");
    await reader.press('ArrowDown');
    assert.equal((await reader.look()).focusName, 'open point 2');
    await reader.press('Enter');
    seen = await reader.look();
    assert.deepEqual([seen.isOpen, seen.title, seen.hash, seen.isFocusInside], [true, 'Point 2', '#point-2', true]);
    assert.deepEqual(seen.sections, ['Parameters', 'Results', 'Iterations', 'Where its time goes', 'What bounds it', 'Links', 'Timeline', 'Run it again']);
    assert.equal(seen.inPane, 1);
    assert(seen.paneOverflow <= 0);
    const {command} = seen;
    const run = await browser.run('() => astrolabePage.report.run(1)');
    await reader.press('ArrowRight');
    assert.equal((await reader.look()).title, 'Point 3');
    await reader.press('Escape');
    seen = await reader.look();
    assert.deepEqual([seen.isOpen, seen.focusName, seen.hash], [false, 'open point 2', '']);

    // A row is opened by a click, and a mark of a figure.
    await reader.click('#table tbody tr td', 1);
    assert.equal((await reader.look()).title, 'Point 1');
    await reader.click('dialog header button', 2);
    assert.equal((await reader.look()).isOpen, false);
    const marks = await browser.run(`() => {
        const box = document.getElementById('chart-iteration_time');
        box.scrollIntoView({block: 'center'});
        const {left, top, width, height} = box.getBoundingClientRect();
        const {handler} = echarts.getInstanceByDom(box).getZr();
        const found = new Map();
        for (let y = 2; y < height; y += 4) {
            for (let x = 2; x < width; x += 4) {
                const {target} = handler.findHover(x, y);
                if (target && !found.has(target.id)) found.set(target.id, [left + x, top + y]);
            }
        }
        return [...found.values()];
    }`);
    let tip = '';
    for (const [x, y] of marks) {
        await browser.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
        await reader.rest();
        tip = await browser.run("() => document.querySelector('#chart-iteration_time .tip')?.innerText ?? ''");
        if (tip === '') continue;  // a legend, an axis
        await reader.clickAt(x, y);
        if ((await reader.look()).isOpen) break;
    }
    seen = await reader.look();
    assert(seen.isOpen, `none of ${marks.length} marks opens a point`);
    const opened = seen.title;
    const parameters = await browser.run(`() => [...document.querySelector('dialog dl').children].map((one) => one.textContent)`);
    for (let i = 0; i < parameters.length; i += 2) assert(tip.includes(`: ${parameters[i + 1]}\n`), `${parameters} is not ${tip}`);  // names are in words there
    await reader.press('Escape');

    // A point has an address.
    await browser.open('about:blank');
    await browser.open(`${page}#point-4`);
    assert.equal((await reader.look()).title, 'Point 4');
    await reader.press('Escape');

    // Colours: those of the system, or of the page.
    const back = {light: 'rgb(255, 255, 255)', dark: 'rgb(20, 24, 29)'};
    const choose = (theme) => browser.run(`(theme) => {
        const select = document.getElementById('theme');
        select.value = theme;
        select.dispatchEvent(new Event('change'));
    }`, theme);
    assert.equal((await reader.look()).back, back.light);
    await choose('dark');
    assert.equal((await reader.look()).back, back.dark);
    await choose('system');
    await browser.scheme('dark');
    await reader.rest();
    assert.equal((await reader.look()).back, back.dark);
    await choose('light');
    seen = await reader.look();
    assert.equal(seen.back, back.light);
    await choose('system');

    // On paper it is light, with all rows.
    await choose('dark');
    await browser.send('Page.printToPDF', {printBackground: true});
    await browser.send('Emulation.setEmulatedMedia', {media: 'print'});
    seen = await reader.look();
    assert.deepEqual([seen.back, seen.rows], [back.light, 4]);
    await browser.send('Emulation.setEmulatedMedia', {media: ''});
    await browser.scheme('light');
    await choose('system');
    expectWhole(await reader.look());
    return {width, command, opened, run};
}

/** Times between frames, in milliseconds, while something is done for so many frames. */
async function framesOf(browser, step, count) {
    await browser.run(`() => {
        window.frames_ = [];
        let last = performance.now();
        const tick = () => {
            const now = performance.now();
            window.frames_.push(now - last);
            last = now;
            if (window.frames_.goesOn !== false) requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
    }`);
    for (let i = 0; i < count; ++i) await step(i);
    const frames = await browser.run('() => { const all = [...window.frames_]; window.frames_.goesOn = false; return all; }');
    frames.sort((a, b) => a - b);
    const at = (share) => Number(frames[Math.min(frames.length - 1, Math.floor(share * frames.length))].toFixed(1));
    return {frames: frames.length, median: at(0.5), p95: at(0.95), most: at(1)};
}

async function frames(browser) {
    await browser.size(1400, 900);
    await browser.open(page);
    const wait = (ms) => browser.run('(ms) => new Promise((resolve) => setTimeout(resolve, ms))', ms);
    const inFrames = (code, ...values) => browser.run(`async (...values) => {
        await (${code})(...values);
        await new Promise((resolve) => requestAnimationFrame(resolve));
    }`, ...values);
    await wait(2000);
    const made = {load_ms: await browser.run("() => Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)")};
    made.idle = await framesOf(browser, () => inFrames('() => 0'), 60);
    made.hover = await framesOf(browser, (i) => browser.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x: 200 + 8 * i, y: 520 + (i % 30)}), 100);
    made.filter = await framesOf(browser, async (i) => {
        if (i % 15 === 0) await inFrames('(at) => document.querySelectorAll("#filters .chip")[at].click()', (i / 15) % 4);
        else await inFrames('() => 0');
    }, 120);
    await inFrames('() => document.querySelectorAll("#bar .controls button")[1].click()');
    await inFrames('() => document.getElementById("table").scrollIntoView()');
    await wait(3000);
    made.scroll = await framesOf(browser, () => inFrames('() => { document.getElementById("table").scrollTop += 90; }'), 120);
    const seen = await browser.run(look.toString());
    expectWhole(seen);
    assert(seen.rows < 200, `${seen.rows} rows are in the document`);
    // The last of all rows is reached by the keyboard.
    const reader = new Reader(browser);
    await browser.run("() => document.querySelector('#table tbody a[tabindex=\"0\"], #table tbody a').focus()");
    await reader.press('End');
    assert.equal((await reader.look()).focusName, `open point ${await browser.run('() => astrolabePage.report.points.rows.length')}`);
    await reader.press('Enter');
    assert.equal((await reader.look()).isOpen, true);
    await reader.press('Escape');
    return made;
}

withBrowser(chromium, profile, async (browser) => {
    let told;
    if (what === 'tour') {
        told = {tours: [await tour(browser, 1400), await tour(browser, 420)]};
    } else if (what === 'frames') {
        told = await frames(browser);
    } else {
        await browser.open(url);
        told = {state: await browser.run("() => document.querySelector('.live .state')?.innerText ?? ''"), seen: await browser.run(look.toString())};
    }
    assert.deepEqual(browser.errors, []);
    for (const request of browser.requests) assert(request === 'about:blank' || request.replace(/#.*/, '') === page || request.startsWith('data:'), request);
    process.stdout.write(JSON.stringify(told) + '\n');
});
