// Headless Chromium over a pair of pipes, in the DevTools protocol.
'use strict';

const {spawn} = require('node:child_process');

const MOST_MS = 120000;

/** A page in a browser of its own; what goes wrong in it, and what it asks for, is noted. */
class Browser {
    constructor(chromium, profile) {
        this.process = spawn(chromium, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
            '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
        {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
        this.process.on('error', (error) => this.fail(error.message));
        this.tooLong = setTimeout(() => this.fail('the browser did not answer within two minutes'), MOST_MS);
        this.last = 0;
        this.waiting = new Map();
        this.listeners = new Set();
        this.requests = [];
        this.errors = [];
        let unfinished = '';
        this.process.stdio[4].setEncoding('utf8');
        this.process.stdio[4].on('data', (text) => {
            const messages = (unfinished + text).split('\0');
            unfinished = messages.pop();
            for (const message of messages) this.take(JSON.parse(message));
        });
    }

    take(message) {
        if (!this.waiting.has(message.id)) {
            for (const listener of this.listeners) listener(message);
            return;
        }
        const {resolve, reject} = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
    }

    send(method, params = {}) {
        this.last += 1;
        const id = this.last;
        const message = {id, method, params};
        if (this.session) message.sessionId = this.session;
        this.process.stdio[3].write(JSON.stringify(message) + '\0');
        return new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
    }

    event(method) {
        return new Promise((resolve) => {
            const listener = (message) => {
                if (message.method !== method) return;
                this.listeners.delete(listener);
                resolve(message.params);
            };
            this.listeners.add(listener);
        });
    }

    async start() {
        const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
        this.session = (await this.send('Target.attachToTarget', {targetId, flatten: true})).sessionId;
        this.listeners.add(({method, params}) => {
            if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url.slice(0, 200));
            if (method === 'Runtime.exceptionThrown') this.errors.push(JSON.stringify(params.exceptionDetails).slice(0, 2000));
            if (method === 'Log.entryAdded' && params.entry.level !== 'verbose') this.errors.push(`${params.entry.level}: ${params.entry.text}`);
            if (method === 'Runtime.consoleAPICalled') this.errors.push(`console.${params.type}: ${JSON.stringify(params.args).slice(0, 2000)}`);
        });
        for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
    }

    scheme(value) {
        return this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
    }

    size(width, height) {
        return this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    }

    async open(url) {
        const loaded = this.event('Page.loadEventFired');
        await this.send('Page.navigate', {url});
        await loaded;
    }

    /** What a function gives that runs in the page, with arguments that JSON has. */
    async run(code, ...values) {
        const {result, exceptionDetails} = await this.send('Runtime.evaluate',
            {expression: `(${code})(...${JSON.stringify(values)})`, returnByValue: true, awaitPromise: true});
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
        return result.value;
    }

    async picture(captureBeyondViewport = false) {
        return Buffer.from((await this.send('Page.captureScreenshot', {captureBeyondViewport})).data, 'base64');
    }

    async close() {
        clearTimeout(this.tooLong);
        this.session = undefined;
        await this.send('Browser.close');
    }

    fail(why) {
        process.stderr.write(`${why}\n`);
        this.process.kill('SIGKILL');
        process.exit(1);
    }
}

/** Does something with a browser and ends it. */
async function withBrowser(chromium, profile, act) {
    const browser = new Browser(chromium, profile);
    try {
        await browser.start();
        await act(browser);
        await browser.close();
    } catch (error) {
        browser.fail(error.stack);
    }
}

module.exports = {withBrowser};
