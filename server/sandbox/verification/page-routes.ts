import type { IncomingMessage } from 'node:http';
import type { Exchange, Route } from '../http/exchange.ts';
import { type Notice, noticePage, pageHeaders, questionPage } from './page.ts';
import { type Language, languageOf } from './page-words.ts';
import type { Decision, Session, VerificationSessions } from './sessions.ts';

/** Where the page is. */
export const pagePath = '/h5/verification';

/** More than the form ever sends, in bytes. */
const maxFormBytes = 4_096;

/** The end user's page: a question, and the answer to it, which leads the browser back to the client's address. */
export function pageRoutes(sessions: VerificationSessions): Route[] {
  async function ask(exchange: Exchange): Promise<void> {
    const token = exchange.url.searchParams.get('token') ?? '';
    const place = placeOf(exchange, token);
    const session = sessions.find(token);
    if (session === undefined) return send(exchange, 404, noticePage(place, 'unknown'));
    if (sessions.statusOf(session) !== 'pending') return refuse(exchange, session);
    send(exchange, 200, questionPage(place, { token, expiresAt: session.expiresAt }));
  }

  async function decide(exchange: Exchange): Promise<void> {
    const form = await readForm(exchange.request);
    const token = form.get('token') ?? '';
    const decision = decisions.find((one) => one === form.get('decision'));
    const session = sessions.find(token);
    const place = placeOf(exchange, token);
    if (session === undefined) return send(exchange, 404, noticePage(place, 'unknown'));
    if (decision === undefined)
      return send(exchange, 400, questionPage(place, { token, expiresAt: session.expiresAt }));
    sessions.decide(session, decision);
    // Who presses twice sees the answer to the second press: it has to be the same.
    if (session.result?.decision !== decision) return refuse(exchange, session);
    const backUrl = returnUrl(session);
    if (backUrl !== '') {
      exchange.response.writeHead(303, { ...pageHeaders, location: backUrl, 'content-length': 0 }).end();
      return;
    }
    const verified = sessions.statusOf(session) === 'verified';
    send(exchange, 200, noticePage(place, verified ? 'approved' : 'rejected'));
  }

  function refuse(exchange: Exchange, session: Session): void {
    const notice: Notice = session.result === undefined ? 'expired' : 'used';
    send(exchange, 410, noticePage(placeOf(exchange, session.id), notice, returnUrl(session)));
  }

  const path = new RegExp(`^${pagePath}$`);
  return [
    { methods: ['GET', 'HEAD'], path, handler: ask, isPublic: true },
    { methods: ['POST'], path, handler: decide, isPublic: true },
  ];
}

const decisions: readonly Decision[] = ['approve', 'reject'];

/** The client's address with the result in it; empty where there is none, or no result. */
function returnUrl({ id, callbackUrl, result }: Session): string {
  if (callbackUrl === '' || result === undefined) return '';
  const url = new URL(callbackUrl);
  const told = new URLSearchParams({ vendor_token: id, resultCode: String(result.code) }).toString();
  // What the client has in its query stays as it wrote it.
  url.search = url.search === '' ? told : `${url.search}&${told}`;
  return url.href;
}

function placeOf({ url }: Exchange, token: string) {
  const inLanguage = (lng: Language) => `${pagePath}?${new URLSearchParams({ token, lng }).toString()}`;
  return { language: languageOf(url.searchParams.get('lng')), inLanguage };
}

function send({ request, response }: Exchange, status: number, html: string): void {
  const bytes = Buffer.from(html);
  response.writeHead(status, { ...pageHeaders, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** The fields of the form; none where it is too long for one. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxFormBytes) return new URLSearchParams();
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString());
}
