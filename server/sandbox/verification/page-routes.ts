import type { IncomingMessage } from 'node:http';
import type { Exchange, Route } from '../http/exchange.ts';
import { type Notice, pageHeaders, renderNoticePage, renderQuestionPage } from './page.ts';
import { type Language, parseLanguage } from './page-texts.ts';
import type { Decision, Session, VerificationSessions } from './sessions.ts';

/** Path of the page. */
export const pagePath = '/h5/verification';

/** Maximum size of a form body in bytes, larger than any valid one. */
const maxFormBytes = 4_096;

/**
 * The end user's page: a question, and the form submission, which redirects the browser to the client's callback URL.
 */
export function pageRoutes(sessions: VerificationSessions): Route[] {
  async function showQuestion(exchange: Exchange): Promise<void> {
    const token = exchange.url.searchParams.get('token') ?? '';
    const pageContext = createPageContext(exchange, token);
    const session = sessions.find(token);
    if (session === undefined) return send(exchange, 404, renderNoticePage(pageContext, 'unknown'));
    if (sessions.statusOf(session) !== 'pending') return sendNotice(exchange, session);
    send(exchange, 200, renderQuestionPage(pageContext, { token, expiresAt: session.expiresAt }));
  }

  async function decide(exchange: Exchange): Promise<void> {
    const form = await readForm(exchange.request);
    const token = form.get('token') ?? '';
    const decision = decisions.find((one) => one === form.get('decision'));
    const session = sessions.find(token);
    const pageContext = createPageContext(exchange, token);
    if (session === undefined) return send(exchange, 404, renderNoticePage(pageContext, 'unknown'));
    if (decision === undefined)
      return send(exchange, 400, renderQuestionPage(pageContext, { token, expiresAt: session.expiresAt }));
    sessions.decide(session, decision);
    // After a double submission, the browser shows the second response, so it must equal the first one.
    if (session.result?.decision !== decision) return sendNotice(exchange, session);
    const backUrl = createReturnUrl(session);
    if (backUrl !== '') {
      exchange.response.writeHead(303, { ...pageHeaders, location: backUrl, 'content-length': 0 }).end();
      return;
    }
    const verified = sessions.statusOf(session) === 'verified';
    send(exchange, 200, renderNoticePage(pageContext, verified ? 'approved' : 'rejected'));
  }

  function sendNotice(exchange: Exchange, session: Session): void {
    const notice: Notice = session.result === undefined ? 'expired' : 'used';
    send(
      exchange,
      410,
      renderNoticePage(createPageContext(exchange, session.id), notice, createReturnUrl(session)),
    );
  }

  const path = new RegExp(`^${pagePath}$`);
  return [
    { methods: ['GET', 'HEAD'], path, handler: showQuestion, isPublic: true },
    { methods: ['POST'], path, handler: decide, isPublic: true },
  ];
}

const decisions: readonly Decision[] = ['approve', 'reject'];

/** Returns the callback URL with the result. Returns an empty string without a callback URL or a result. */
function createReturnUrl({ id, callbackUrl, result }: Session): string {
  if (callbackUrl === '' || result === undefined) return '';
  const url = new URL(callbackUrl);
  const resultQuery = new URLSearchParams({ vendor_token: id, resultCode: String(result.code) }).toString();
  // The existing query stays unchanged.
  url.search = url.search === '' ? resultQuery : `${url.search}&${resultQuery}`;
  return url.href;
}

function createPageContext({ url }: Exchange, token: string) {
  const urlForLanguage = (lng: Language) => `${pagePath}?${new URLSearchParams({ token, lng }).toString()}`;
  return { language: parseLanguage(url.searchParams.get('lng')), urlForLanguage };
}

function send({ request, response }: Exchange, status: number, html: string): void {
  const bytes = Buffer.from(html);
  response.writeHead(status, { ...pageHeaders, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Reads the fields of the form. Returns no fields if the body is too large. */
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
