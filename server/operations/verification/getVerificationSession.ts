import { refreshSession } from '../../calls/refresh-session.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { Failure } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { findVerificationSession } from '../../store/queries/verification-sessions.ts';
import { shownSession } from './session-view.ts';

/** One of the caller's own verification sessions; what others have is not there. */
export const getVerificationSession: Handler<'getVerificationSession'> = async (request, reply) => {
  const { path, query, gateway, caller } = request;
  const { session_id: sessionId } = path;
  const session = await findVerificationSession(gateway.store.read, { sessionId, ...viewerOf(caller) });
  if (session === undefined) {
    const message = `session_id: there is no verification session ${quoted(sessionId)}.`;
    throw new Failure(404, 'resource_not_found', message);
  }
  reply.json(200, shownSession(await refreshSession(gateway, session, query.result_code)));
};
