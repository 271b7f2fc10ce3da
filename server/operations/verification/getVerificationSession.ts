import { refreshSession } from '../../calls/refresh-session.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { notFound } from '../../lib/failure.ts';
import { quoted } from '../../models/catalogue.ts';
import { findVerificationSession } from '../../store/queries/verification-sessions.ts';
import { viewSession } from './session-view.ts';

/** Returns one of the caller's verification sessions. Sessions of other users do not exist for it. */
export const getVerificationSession: Handler<'getVerificationSession'> = async (request, reply) => {
  const { path, query, gateway, caller } = request;
  const { session_id: sessionId } = path;
  const session = await findVerificationSession(gateway.store.read, { sessionId, ...viewerOf(caller) });
  if (session === undefined)
    throw notFound('session_id', `there is no verification session ${quoted(sessionId)}.`);
  reply.json(200, viewSession(await refreshSession(gateway, session, query.result_code)));
};
