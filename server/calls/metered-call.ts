import type { OperationId } from '../../generated/operations.ts';
import type { Channel, UpstreamRequest } from '../channels/channel.ts';
import {
  type Candidate,
  type ChannelResponse,
  connectionFailure,
  requestWithFailover,
} from '../channels/failover.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { Failure } from '../lib/failure.ts';
import { TimeLimitError, withinLimit } from '../lib/timers.ts';
import { providerRequestId } from '../providers/headers.ts';
import { EmptyResponseFailure } from '../providers/unusable-response.ts';
import { type MeteredCall, Metering, type Usage } from '../quota/metering.ts';

/** Usage of a call while its response is sent. */
export interface CallMeter {
  /** The usage that the provider reported last. */
  readonly usage: Usage | undefined;
  /** Whether any generated output was sent. */
  readonly delivered: boolean;
  /** Usage of the output sent so far, if known to exceed `usage`. */
  readonly deliveredUsage?: Usage;
  /** Set if the forwarded response reports that the call failed. */
  readonly failure?: Failure | undefined;
}

export interface CallOutput {
  meter: CallMeter;
  /** Sends the response. Settles before the last byte, so a delivered response is always charged. */
  send(): Promise<void>;
}

interface UpstreamCall {
  /** Aborted when the client disconnects or the call times out. */
  readonly signal: AbortSignal;
  readonly metering: Metering;
  /** Settles the call. Resolves when the settlement is durable, with the charged quota. Undefined: the call was refunded. */
  settle(meter: CallMeter): Promise<number | undefined>;
}

/** Builds the client's response from the upstream's. */
export type CallResponder<Upstream = ChannelResponse> = (
  upstream: Upstream,
  call: UpstreamCall,
) => Promise<CallOutput>;

/** Reserves quota for a call of the request. */
export function openMetering(
  { gateway, caller, requestId, startedAt }: OperationRequest<OperationId>,
  call: Omit<MeteredCall, 'requestId' | 'caller' | 'startedAt'>,
): Promise<Metering> {
  return Metering.open(gateway, { ...call, requestId, caller, startedAt });
}

/** A POST request for a model. */
interface ModelRequest extends Pick<UpstreamRequest, 'path' | 'headers' | 'maxSilenceMs' | 'signal'> {
  model: string;
  /** The request must not run twice. */
  atMostOnce?: boolean | undefined;
  /** Returns the body for a channel. Its `model` is replaced with the channel's name for the model. */
  body: (channel: Channel) => object;
}

/** Sends a request to the channels in order, with failover. */
export function requestModel(
  { gateway, caller, hasFallback }: OperationRequest<OperationId>,
  channels: readonly Channel[],
  { model, atMostOnce, body, ...upstream }: ModelRequest,
): Promise<ChannelResponse> {
  const user = caller.userId;
  return requestWithFailover(
    channels,
    (channel) => ({
      ...upstream,
      method: 'POST',
      body: { ...body(channel), model: channel.upstreamModel(model) },
      user,
    }),
    gateway.logger,
    { user, model, atMostOnce, hasFallback },
  );
}

/**
 * Runs a call with reserved quota and sends the response. A failure refunds the quota. If the client disconnects or
 * stops reading after output was sent, the call is charged for the usage known so far, or else for the expected usage.
 */
export async function runMeteredCall<Upstream extends Candidate>(
  { gateway, signal: client }: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  metering: Metering,
  request: (signal: AbortSignal) => Promise<Upstream>,
  respond: CallResponder<Upstream>,
): Promise<void> {
  let candidate: Candidate | undefined;
  let output: CallOutput | undefined;
  try {
    await withinLimit(gateway.timers, gateway.settings.speechMs, client, async (signal) => {
      const upstream = await request(signal);
      candidate = upstream;
      output = await respond(upstream, {
        signal,
        metering,
        settle: async (meter) => {
          const charged = await settle(metering, meter, upstream);
          reply.reportCharge(charged);
          return charged;
        },
      });
      await output.send();
    });
  } catch (error) {
    // A timeout is charged only if output waits for the client.
    const isClientFault = client.aborted || (error instanceof TimeLimitError && reply.hasUnsentOutput);
    const failure = error instanceof Failure ? error : connectionFailure(error);
    const { status, code } = isClientFault ? { status: 499, code: 'client_closed_request' } : failure;
    if (code === 'bad_response' && !(failure instanceof EmptyResponseFailure))
      candidate?.attempt.fail('invalid_response');
    const upstreamId = providerRequestId(candidate?.response?.headers);
    const outcome = { channel: candidate?.channel.name ?? '', status, errorCode: code, upstreamId };
    const { deliveredUsage, usage, delivered = false } = output?.meter ?? {};
    if (isClientFault && delivered)
      await metering.charge(deliveredUsage ?? usage ?? metering.expected, outcome);
    else await metering.refund(outcome);
    throw failure;
  }
}

/** Charges the reported usage, or the expected usage if output was sent without a report. Returns the charged quota. */
async function settle(
  metering: Metering,
  { usage, delivered, failure }: CallMeter,
  { channel, response }: Candidate,
): Promise<number | undefined> {
  const upstreamId = providerRequestId(response?.headers);
  const outcome = { channel: channel.name, status: 200, upstreamId };
  const charged = usage ?? (delivered ? metering.expected : undefined);
  if (failure === undefined && charged !== undefined) return metering.charge(charged, outcome);
  await metering.refund({ ...outcome, errorCode: failure?.code ?? 'nothing_delivered' });
  return undefined;
}
