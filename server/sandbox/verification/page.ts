import { createHash } from 'node:crypto';
import { type Language, languages, words } from './page-words.ts';

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
 * For every page: it loads nothing, runs nothing and stands in no frame. Where forms lead is left open, since browsers
 * hold the redirect to the client's own address to it, and whatever redirects follow there.
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

/** Where the links of a page lead. */
interface PagePlace {
  language: Language;
  /** The same page in another language. */
  inLanguage: (language: Language) => string;
}

/** The page on which the end user decides; `expiresAt` in milliseconds since the epoch. */
export function questionPage(
  place: PagePlace,
  { token, expiresAt }: { token: string; expiresAt: number },
): string {
  const { explanation, question, approve, reject, until } = words[place.language];
  const end = new Date(expiresAt).toISOString();
  return page(
    place,
    `<p>${explanation}</p>
<form method="post" action="${escape(place.inLanguage(place.language))}">
<input type="hidden" name="token" value="${escape(token)}">
<fieldset>
<legend>${question}</legend>
<button name="decision" value="approve">${approve}</button>
<button class="second" name="decision" value="reject">${reject}</button>
</fieldset>
</form>
<p class="small">${until} <time datetime="${end}">${end.slice(11, 16)} UTC</time></p>`,
  );
}

/** What the end user is told instead. */
export type Notice = 'approved' | 'rejected' | 'used' | 'expired' | 'unknown';

/** A page that tells something, with the way back to the application where there is one. */
export function noticePage(place: PagePlace, notice: Notice, backUrl = ''): string {
  const { [notice]: text, back, close } = words[place.language];
  const further =
    backUrl === ''
      ? `<p>${close}</p>`
      : `<a class="back" rel="noreferrer" href="${escape(backUrl)}">${back}</a>`;
  return page(place, `<p role="status">${text}</p>\n${further}`);
}

function page({ language, inLanguage }: PagePlace, content: string): string {
  const { title, languageList } = words[language];
  const links = languages.map((one) => {
    const current = one === language ? ' aria-current="true"' : '';
    return `<a lang="${one}" hreflang="${one}" href="${escape(inLanguage(one))}"${current}>${words[one].name}</a>`;
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

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
