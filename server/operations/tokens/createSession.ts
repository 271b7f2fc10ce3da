import type { Handler, OperationRequest } from '../../http/handler.ts';
import { assertionHeader } from '../../keys/user-assertion.ts';
import { accessDenied, Failure } from '../../lib/failure.ts';
import { success } from '../success.ts';

/** Exchanges the user assertion of a proxy for the session key of the user or member that it names. */
export const createSession: Handler<'createSession'> = async (request, reply) => {
  const { gateway, requestId, headers } = request;
  const { userSessions, logger } = gateway;
  if (userSessions === undefined)
    throw new Failure(
      404,
      'assertions_not_accepted',
      'This gateway accepts no user assertions. Sign in with an API key.',
    );
  requireSameOrigin(request);
  const session = await userSessions.open([headers[assertionHeader]].flat()[0]);
  const { tokenId, key, expiredTime, isNew, user, member } = session;
  if (isNew) {
    const about = { request_id: requestId, user_id: user.id, member_id: member?.id, key_id: tokenId };
    logger.info(about, 'a session was opened');
  }
  reply.json(200, success({ key, expires_at: expiredTime, user, member }), { 'cache-control': 'no-store' });
};

const hostOf = (url = '') => URL.parse(url)?.host;

/**
 * Refuses pages of other origins. CORS lets them read every response, and a proxy that recognizes people by their network or
 * certificate adds the assertion to requests of any page.
 *
 * @throws Failure 403
 */
function requireSameOrigin({ headers, baseUrl }: OperationRequest<'createSession'>): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isAllowed =
    site !== undefined
      ? site === 'same-origin' || site === 'none'
      : origin === undefined || [host, hostOf(baseUrl)].includes(hostOf(origin) ?? 'none');
  if (!isAllowed) throw accessDenied('origin: only pages of this gateway may open a session.');
}
