import { DeliveryError, verifyDelivery, verifyEvent } from '../../../client/deliveries.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import type { DocumentedCallback, Parameter } from '../contract/documented.ts';
import { eventProblems, schemaProblems } from '../contract/schemas.ts';
import { messagesFrom } from '../sockets/socket-messages.ts';
import type { ReceivedCallback } from './receiver.ts';

/** Channel of the AsyncAPI document whose callbacks are events. Others report tasks. */
export const eventChannel = 'eventCallback';

/** Checks a delivery. Returns its problems and the messages of the channel that it matches. */
export async function checkDelivery(
  received: ReceivedCallback,
  { method, parameters, requests }: DocumentedCallback,
  channel: string,
  secret: string | undefined,
): Promise<{ problems: string[]; messages: string[] }> {
  const { headers, body } = received;
  const task = deliveryBody(received);
  const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  const media = requests.find(({ mediaType }) => mediaType === type);
  const attempts = messagesFrom(channel, 'send').map(({ key, payload }) => ({
    key,
    mismatches: eventProblems(payload, task),
  }));
  const problems = [
    ...(received.method === method.toUpperCase()
      ? []
      : [`method ${received.method} instead of ${method.toUpperCase()}`]),
    ...(media === undefined ? [`content type ${type} is not documented`] : schemaProblems(media, task)),
    ...parameters.flatMap((parameter) => headerProblems(parameter, headers)),
    ...(await signatureProblems(received, channel, secret)),
    // A channel can have several messages, of which a delivery is one.
    ...(attempts.some(({ mismatches }) => mismatches.length === 0)
      ? []
      : attempts.flatMap(({ key, mismatches }) => mismatches.map((problem) => `as ${key}: ${problem}`))),
  ];
  return {
    problems: problems.map((problem) => `a delivery: ${problem}: ${body.slice(0, 200)}`),
    messages: attempts.filter(({ mismatches }) => mismatches.length === 0).map(({ key }) => key),
  };
}

/** Returns the body of a delivery. Null if it is not JSON. */
export function deliveryBody({ body }: ReceivedCallback): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return null;
  }
}

function headerProblems({ name, required, ...located }: Parameter, headers: Headers): string[] {
  const value = headers.get(name);
  if (value === null) return required ? [`header ${name} is missing`] : [];
  return schemaProblems(located, value).map((problem) => `header ${name} ${problem}`);
}

/** Verifies the signature. Without the secret it checks only the format and the timestamp. */
async function signatureProblems(
  { headers, body, receivedAt }: ReceivedCallback,
  channel: string,
  secret: string | undefined,
): Promise<string[]> {
  if (secret !== undefined) {
    try {
      await (channel === eventChannel ? verifyEvent : verifyDelivery)(body, headers, secret);
      return [];
    } catch (error) {
      if (error instanceof DeliveryError) return [error.message];
      throw error;
    }
  }
  const signature = headers.get('webhook-signature');
  const skewSeconds = Math.abs(receivedAt / 1000 - Number(headers.get('webhook-timestamp') ?? Number.NaN));
  return [
    ...(signature === null || /^v1,[A-Za-z0-9+/]{43}=( |$)/.test(signature)
      ? []
      : [`the signature has no documented format: ${signature}`]),
    ...(skewSeconds <= 300 ? [] : ['webhook-timestamp differs from now by more than 300 s']),
  ];
}
