import { html, type Markup } from '../runtime/markup.ts';
import type { DemoTexts } from './texts/demo-texts.ts';

/** On the pages whose language the agent does not know. */
const IN_ENGLISH = ['Where is my order?', 'Which size fits me?', 'I want to talk to a human'];

/** What this page is, and what to try; closed until someone wants it. */
export function demoBox({ demo }: DemoTexts, identifies: boolean): Markup {
  return html`<aside class="demo" aria-label="${demo.title}">
    <details id="demo">
      <summary>${demo.summary}</summary>
      <div class="demo-body">
        <p>${demo.intro}</p>
        <p class="ask">${demo.questionsTitle}</p>
        ${demo.questions === undefined ? englishQuestions() : list(demo.questions)}
        ${demo.questionsNote === undefined ? undefined : html`<p class="note">${demo.questionsNote}</p>`}
        <p><button type="button" id="open-chat">${demo.open}</button></p>
        ${identifies ? identity(demo) : undefined}
      </div>
    </details>
  </aside>`;
}

const list = (questions: readonly string[]): Markup =>
  html`<ul>
    ${questions.map((question) => html`<li>${question}</li>`)}
  </ul>`;

const englishQuestions = (): Markup => html`<div lang="en" dir="ltr">${list(IN_ENGLISH)}</div>`;

function identity(demo: DemoTexts['demo']): Markup {
  return html`<p>${demo.identifyIntro}</p>
    <p class="identity">
      <button type="button" id="identify">${demo.identify}</button>
      <button type="button" id="log-out">${demo.logOut}</button>
    </p>
    <p
      id="identity-status"
      class="note"
      role="status"
      data-identified="${demo.identified}"
      data-logged-out="${demo.loggedOut}"
      data-failed="${demo.failed}"
    ></p>`;
}
