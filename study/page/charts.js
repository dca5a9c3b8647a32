// From a figure (study/include/astrolabe/study/report/report.hpp) to an option of ECharts: for the page and for
// pictures alike.
'use strict';

const astrolabeCharts = (() => {
    const {Sheet, THEMES} = astrolabeSheet;
    const FORMS = Object.assign({}, astrolabeGrids.FORMS, astrolabeStacks.FORMS, astrolabeCosts.FORMS, astrolabeDetails.FORMS, astrolabeTimelines.FORMS, {winner: astrolabeWinner.draw});
    const BY_POINT = new Set(['links', 'exchanges', 'tasks', 'gantt']);

    /** Pictures of a figure: one, or one for each point. */
    const frames = (figure) => (BY_POINT.has(figure.chart.form) ? figure.chart.frames : [null]);

    /** The name of a picture's files, without what comes after the dot. */
    const fileOf = (figure, frame) => (frame ? `${figure.name}-${frame.file || frame.point}` : figure.name);

    /**
     * @param frame one of `frames`, or the `frame` of one of `selections`
     * @param standalone whether it is a picture of its own: true, or 'paper', where the caption is its heading
     * @returns {{option: object, height: number, marks: number}} a chart of this width; `marks` is how much there is to draw.
     */
    function draw(figure, frame, report, theme, width, standalone) {
        const sheet = new Sheet(report, theme, width);
        if (standalone) sheet.option.backgroundColor = THEMES[theme].back;
        if (standalone && standalone !== 'paper') {
            sheet.title(frame && frame.label ? `${figure.title} ${frame.label}` : figure.title);
        }
        FORMS[figure.chart.form](sheet, figure, frame);
        const marks = sheet.option.series.reduce((sum, one) => sum + (one.data ? one.data.length : 0), 0);
        return {option: sheet.option, height: Math.ceil(sheet.height + 6), marks};
    }

    return {draw, frames, fileOf, selections: astrolabeCosts.selections};
})();
