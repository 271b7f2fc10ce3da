import { createHash } from 'node:crypto';
import { type Language, languages, pageTexts } from './page-texts.ts';

const style = `
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; align-items: center;
  background: canvas; color: canvastext; }
main { box-sizing: border-box; width: 100%; max-width: 28rem; margin: auto; padding: 1.5rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p, legend { margin: 0 0 1rem; padding: 0; overflow-wrap: anywhere; }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; display: grid; gap: .75rem; }
legend { font-weight: 600; }
button, .back { box-sizing: border-box; display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem;
  border: 2px solid #1d5fd1; border-radius: .6rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer; background: #1d5fd1; color: #fff; }
button.second { background: transparent; border-color: currentcolor; color: inherit; }
:focus-visible { outline: 3px solid canvastext; outline-offset: 3px; }
.small { font-size: .9375rem; }
nav { padding: 0 1rem 1.25rem; display: flex; flex-wrap: wrap; justify-content: center; gap: .25rem 1rem; }
nav a { color: inherit; padding: .6rem .25rem; }
nav a[aria-current] { font-weight: 600; text-decoration: none; }
`;

/**
 * Headers of all pages: they load no resources, run no scripts and cannot be framed. `form-action` is not restricted,
 * because browsers also apply it to the redirect to the client's URL and to subsequent redirects.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

/** Language of a page and links to the other languages. */
interface PageContext {
  language: Language;
  /** Returns the URL of the same page in another language. */
  urlForLanguage: (language: Language) => string;
}

/** Renders the page on which the end user decides. `expiresAt` is in milliseconds since the epoch. */
export function renderQuestionPage(
  context: PageContext,
  { token, expiresAt }: { token: string; expiresAt: number },
): string {
  const { explanation, question, approve, reject, until } = pageTexts[context.language];
  const end = new Date(expiresAt).toISOString();
  return renderPage(
    context,
    `<p>${explanation}</p>
<form method="post" action="${escapeHtml(context.urlForLanguage(context.language))}">
<input type="hidden" name="token" value="${escapeHtml(token)}">
<fieldset>
<legend>${question}</legend>
<button name="decision" value="approve">${approve}</button>
<button class="second" name="decision" value="reject">${reject}</button>
</fieldset>
</form>
<p class="small">${until} <time datetime="${end}">${end.slice(11, 16)} UTC</time></p>`,
  );
}

/** Message of a page without a question. */
export type Notice = 'approved' | 'rejected' | 'used' | 'expired' | 'unknown';

/** Renders a page with a message and, if `backUrl` is set, a link to the application. */
export function renderNoticePage(context: PageContext, notice: Notice, backUrl = ''): string {
  const { [notice]: text, back, close } = pageTexts[context.language];
  const further =
    backUrl === ''
      ? `<p>${close}</p>`
      : `<a class="back" rel="noreferrer" href="${escapeHtml(backUrl)}">${back}</a>`;
  return renderPage(context, `<p role="status">${text}</p>\n${further}`);
}

function renderPage({ language, urlForLanguage }: PageContext, content: string): string {
  const { title, languageList } = pageTexts[language];
  const links = languages.map((one) => {
    const current = one === language ? ' aria-current="true"' : '';
    return `<a lang="${one}" hreflang="${one}" href="${escapeHtml(urlForLanguage(one))}"${current}>${pageTexts[one].name}</a>`;
  });
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
<nav aria-label="${languageList}">${links.join('\n')}</nav>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
