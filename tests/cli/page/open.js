// Opens a page in headless Chromium and tells, as JSON on standard output, what happened: errors on the console, what
// the page asked for, and what each chart has in it. Speaks Chromium's DevTools protocol over a pair of pipes.
//   node open.js CHROMIUM PROFILE_FOLDER URL [light|dark [PICTURE.png]]
'use strict';

const {spawn} = require('node:child_process');
const {writeFileSync} = require('node:fs');

const [chromium, profile, url, scheme = 'light', picture] = process.argv.slice(2);
const browser = spawn(chromium, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
    '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
{stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});

let last = 0;
const waiting = new Map();
const listeners = [];
let unfinished = '';
browser.stdio[4].setEncoding('utf8');
browser.stdio[4].on('data', (text) => {
    const messages = (unfinished + text).split('\0');
    unfinished = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
        if (waiting.has(message.id)) {
            const {resolve, reject} = waiting.get(message.id);
            waiting.delete(message.id);
            if (message.error) reject(new Error(message.error.message));
            else resolve(message.result);
        } else {
            listeners.forEach((listener) => listener(message));
        }
    }
});

function send(method, params = {}, sessionId = undefined) {
    last += 1;
    const id = last;
    browser.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    return new Promise((resolve, reject) => waiting.set(id, {resolve, reject}));
}

function event(method) {
    return new Promise((resolve) => listeners.push((message) => message.method === method && resolve(message.params)));
}

/** Runs in the page. */
function look() {
    const charts = [...document.querySelectorAll('.chart')].map((box) => {
        const svg = box.querySelector('svg');
        const canvas = box.querySelector('canvas');
        const marks = svg ? [...svg.querySelectorAll('path, rect, circle')].filter((shape) => {
            const {width, height} = shape.getBoundingClientRect();
            const fill = shape.getAttribute('fill');
            return width + height > 0 && fill && fill !== 'none' && fill !== 'transparent';
        }).length : 0;
        let inked = 0;
        if (canvas) {
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            for (let i = 3; i < data.length; i += 4) inked += data[i] > 0 ? 1 : 0;
        }
        const labels = svg ? [...svg.querySelectorAll('text')].map((text) => text.textContent) : [];
        return {id: box.id, marks, inked, labels, height: box.clientHeight};
    });
    return {
        charts, title: document.title, heading: document.querySelector('h1')?.textContent,
        pictures: [...document.images].map((image) => [image.getAttribute('src'), image.naturalWidth]),
        scripts: document.querySelectorAll('script').length, images: document.querySelectorAll('img, iframe, object, link').length,
        rows: document.querySelectorAll('#points tbody tr').length, text: document.body.innerText,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, hacked: typeof window.hacked !== 'undefined',
    };
}

async function main() {
    const requests = [];
    const errors = [];
    const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
    listeners.push(({method, params}) => {
        if (method === 'Network.requestWillBeSent') requests.push(params.request.url.slice(0, 200));
        if (method === 'Runtime.exceptionThrown') errors.push(JSON.stringify(params.exceptionDetails).slice(0, 2000));
        if (method === 'Log.entryAdded' && params.entry.level !== 'verbose') errors.push(`${params.entry.level}: ${params.entry.text}`);
        if (method === 'Runtime.consoleAPICalled') errors.push(`console.${params.type}: ${JSON.stringify(params.args).slice(0, 2000)}`);
    });
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`, {}, sessionId);
    await send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]}, sessionId);
    await send('Emulation.setDeviceMetricsOverride', {width: 1200, height: 900, deviceScaleFactor: 1, mobile: false}, sessionId);
    const loaded = event('Page.loadEventFired');
    await send('Page.navigate', {url}, sessionId);
    await loaded;
    const {result} = await send('Runtime.evaluate', {expression: `(${look})()`, returnByValue: true}, sessionId);
    if (picture) {
        const shot = await send('Page.captureScreenshot', {captureBeyondViewport: true}, sessionId);
        writeFileSync(picture, Buffer.from(shot.data, 'base64'));
    }
    process.stdout.write(JSON.stringify({requests, errors, page: result.value}));
    await send('Browser.close');
}

const tooLong = setTimeout(() => {
    process.stderr.write('the browser did not answer within two minutes\n');
    browser.kill('SIGKILL');
    process.exit(1);
}, 120000);
browser.on('error', (error) => { process.stderr.write(`${error.message}\n`); process.exit(1); });
main().then(() => clearTimeout(tooLong), (error) => {
    process.stderr.write(`${error.stack}\n`);
    browser.kill('SIGKILL');
    process.exit(1);
});
