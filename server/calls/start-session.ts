import type { OperationRequest, Reply } from '../http/handler.ts';
import { Failure } from '../lib/failure.ts';
import { findModel } from '../models/catalogue.ts';
import { startSession as startUpstreamSession } from '../providers/verification/sessions.ts';
import type { PricedRequest } from '../quota/priced-request.ts';
import type { VerificationSessionsTable } from '../store/schema.ts';
import { persist } from '../store/store.ts';
import { createWithFailover } from './create-with-failover.ts';
import { openMetering } from './metered-call.ts';

/** The model that verification sessions are billed as. */
export const sessionModel = findModel('vendorx_verification');

/** The price of a session: one action. */
export const pricedSession: PricedRequest = { model: sessionModel, expectedUnits: 1 };

/**
 * Starts a verification session at a provider. The session is stored and charged when this resolves, even if the client has
 * disconnected. `callbackUrl`: empty if there is none.
 */
export async function startSession(
  request: OperationRequest<'createVerificationSession'>,
  reply: Reply<'createVerificationSession'>,
  callbackUrl: string,
): Promise<VerificationSessionsTable> {
  const { body, gateway, caller } = request;
  const channels = gateway.channels.order(
    gateway.channels.serving('verification', sessionModel.id, caller.group),
  );
  return gateway.detachedCalls.run(async (signal) => {
    const operation = 'createVerificationSession';
    const metering = await openMetering(request, { operation, ...pricedSession });
    const user = caller.userId;
    let name = '';
    try {
      const order = callbackUrl === '' ? body : { ...body, callback_url: callbackUrl };
      const scope = { user, model: sessionModel.id };
      const { result } = await createWithFailover(gateway.logger, channels, scope, (channel) => {
        name = channel.name;
        return startUpstreamSession({ channel, user, signal }, order);
      });
      const now = gateway.clock();
      const session: VerificationSessionsTable = {
        session_id: result.sessionId,
        user_id: user,
        token_id: caller.tokenId,
        channel: name,
        h5_link: result.h5Link,
        callback_url: callbackUrl,
        status: 'pending',
        group_id: null,
        upstream_group_id: null,
        result_code: null,
        created_at: now,
        updated_at: now,
        expires_at: now + result.lifetimeMs,
      };
      if (!(await persist(gateway.store, 'saveVerificationSession', session)))
        throw new Failure(502, 'bad_response', 'The provider returned the id of a session that exists.');
      const usage = { units: 1, inputTokens: 0, outputTokens: 0 };
      reply.reportCharge(await metering.charge(usage, { channel: name, status: 200 }));
      return session;
    } catch (error) {
      const { status, code: errorCode } =
        error instanceof Failure ? error : { status: 500, code: 'internal_error' };
      await metering.refund({ channel: name, status, errorCode });
      throw error;
    }
  });
}
