import { Time } from '../parts/numbers.tsx';
import { rememberedError } from '../session/remembered-errors.ts';
import { gatewayUrl } from '../session/session.ts';

/** Whether a text is a complete request id. */
export const isRequestId = (text: string): boolean => /^req_[0-9a-f]{32}$/.test(text);

/** Explains why the request log has no entry with an id, with the error of the call if this tab has received it. */
export function NotLogged({ requestId }: { requestId: string }) {
  const error = rememberedError(requestId);
  return (
    <div class="stack not-logged">
      {error && (
        <dl class="facts">
          <dt>Status</dt>
          <dd class="numeric">{error.status}</dd>
          {error.code && (
            <>
              <dt>Code</dt>
              <dd>
                <a href={`${gatewayUrl}/docs/errors#${error.code}`}>{error.code}</a>
              </dd>
            </>
          )}
          <dt>Message</dt>
          <dd>{error.message}</dd>
          <dt>Received</dt>
          <dd>
            <Time at={error.at} />
          </dd>
        </dl>
      )}
      <p class="secondary">
        {error
          ? 'The gateway refused this call, so the log has no entry. This tab has received the error.'
          : 'The log contains calls that have ended. It does not contain calls that the gateway refused, for example with status 400, 401, 403, 404 or 429.'}{' '}
        <a href={`${gatewayUrl}/docs/errors`}>All errors with their remedies</a>
      </p>
    </div>
  );
}
