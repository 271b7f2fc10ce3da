import type { OperationId } from '../../generated/operations.ts';
import { type Candidate, type ChannelResponse, connectionFailure } from '../channels/failover.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { Failure } from '../lib/failure.ts';
import { TimeLimitError, withinLimit } from '../lib/timers.ts';
import { providerRequestId } from '../providers/headers.ts';
import { EmptyAnswer } from '../providers/unusable.ts';
import type { Metering, Usage } from '../quota/metering.ts';

/** What is known of a call's bill while its answer goes out. */
export interface CallMeter {
  /** The last figure that the provider reported. */
  readonly usage: Usage | undefined;
  /** Whether anything that was made has gone out. */
  readonly delivered: boolean;
  /** What has gone out, where that is known to be more than the last figure. */
  readonly heard?: Usage;
  /** The answer passes, and says that the call failed. */
  readonly failure?: Failure | undefined;
}

/** An answer on its way. */
export interface CallOutput {
  meter: CallMeter;
  /** Sends it. Before the last of it the books are closed, so that a delivered answer is a paid one. */
  send(): Promise<void>;
}

/** What an answer is made with. */
export interface UpstreamCall {
  /** Aborted when the client leaves, or the time for all of it is over. */
  readonly signal: AbortSignal;
  readonly metering: Metering;
  /** Charges what was used. Resolves when it is on disk. */
  settle(meter: CallMeter): Promise<void>;
}

/** Makes the answer to the client out of what came from upstream. */
export type CallAnswer<Upstream = ChannelResponse> = (
  upstream: Upstream,
  call: UpstreamCall,
) => Promise<CallOutput>;

/**
 * Asks upstream for a call that has its quota, and sends the answer. Whatever goes wrong gives the quota back; a client
 * that leaves in the middle, or does not read until the time is over, pays for what has gone out or the upstream has
 * counted by then, or for the whole text where the upstream counts it when it takes it.
 */
export async function answerCall<Upstream extends Candidate>(
  { gateway, signal: client }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  metering: Metering,
  ask: (signal: AbortSignal) => Promise<Upstream>,
  answer: CallAnswer<Upstream>,
): Promise<void> {
  let turn: Candidate | undefined;
  let output: CallOutput | undefined;
  try {
    await withinLimit(gateway.timers, gateway.settings.speechMs, client, async (signal) => {
      const upstream = await ask(signal);
      turn = upstream;
      output = await answer(upstream, {
        signal,
        metering,
        settle: (meter) => settle(metering, meter, upstream),
      });
      await output.send();
    });
  } catch (error) {
    // The provider's slowness is not the client's to pay, but what waits for the client was made for it.
    const left = client.aborted || (error instanceof TimeLimitError && reply.hasUnsentOutput);
    const failure = error instanceof Failure ? error : connectionFailure(error);
    const { status, code } = left ? { status: 499, code: 'client_closed_request' } : failure;
    if (code === 'bad_response' && !(failure instanceof EmptyAnswer)) turn?.attempt.fail('bad_answer');
    const upstreamId = providerRequestId(turn?.response?.headers);
    const outcome = { channel: turn?.channel.name ?? '', status, errorCode: code, upstreamId };
    const { heard, usage, delivered = false } = output?.meter ?? {};
    if (left && delivered) await metering.charge(heard ?? usage ?? metering.expected, outcome);
    else await metering.refund(outcome);
    throw failure;
  }
}

/** Charges what was reported, or what was expected when something went out without a figure. */
async function settle(
  metering: Metering,
  { usage, delivered, failure }: CallMeter,
  { channel, response }: Candidate,
): Promise<void> {
  const upstreamId = providerRequestId(response?.headers);
  const outcome = { channel: channel.name, status: 200, upstreamId };
  if (failure !== undefined) await metering.refund({ ...outcome, errorCode: failure.code });
  else if (usage !== undefined) await metering.charge(usage, outcome);
  else if (delivered) await metering.charge(metering.expected, outcome);
  else await metering.refund({ ...outcome, errorCode: 'nothing_delivered' });
}
