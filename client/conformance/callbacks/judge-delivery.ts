import type { Json } from '../../../openapi/tools/document.ts';
import { DeliveryError, verifyDelivery } from '../../deliveries.ts';
import type { DocumentedCallback, Parameter } from '../contract/documented.ts';
import { eventProblems, schemaProblems } from '../contract/schemas.ts';
import { messagesFrom } from '../sockets/socket-messages.ts';
import type { Received } from './receiver.ts';

/** What is wrong with a delivery, and the messages of the channel that it is. */
export async function judgeDelivery(
  received: Received,
  { method, parameters, requests }: DocumentedCallback,
  channel: string,
  secret: string | undefined,
): Promise<{ problems: string[]; messages: string[] }> {
  const { headers, body } = received;
  const task = parsedDelivery(received);
  const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  const media = requests.find(({ mediaType }) => mediaType === type);
  const attempts = messagesFrom(channel, 'send').map(({ key, payload }) => ({
    key,
    wrong: eventProblems(payload, task),
  }));
  const problems = [
    ...(received.method === method.toUpperCase() ? [] : [`it comes by ${received.method}`]),
    ...(media === undefined ? [`content type ${type} is not documented`] : schemaProblems(media, task)),
    ...parameters.flatMap((parameter) => headerProblems(parameter, headers)),
    ...(await signatureProblems(received, secret)),
    ...attempts.flatMap(({ key, wrong }) => wrong.map((problem) => `as ${key}: ${problem}`)),
  ];
  return {
    problems: problems.map((problem) => `a delivery: ${problem}: ${body.slice(0, 200)}`),
    messages: attempts.filter(({ wrong }) => wrong.length === 0).map(({ key }) => key),
  };
}

/** What a delivery says; null where that is no JSON. */
export function parsedDelivery({ body }: Received): Json {
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

/** Without the secret only the form of a signature can be judged, and the time beside it. */
async function signatureProblems(
  { headers, body, at }: Received,
  secret: string | undefined,
): Promise<string[]> {
  if (secret !== undefined) {
    try {
      await verifyDelivery(body, headers, secret);
      return [];
    } catch (error) {
      if (error instanceof DeliveryError) return [error.message];
      throw error;
    }
  }
  const signature = headers.get('webhook-signature');
  const apart = Math.abs(at / 1000 - Number(headers.get('webhook-timestamp') ?? Number.NaN));
  return [
    ...(signature === null || /^v1,[A-Za-z0-9+/]{43}=( |$)/.test(signature)
      ? []
      : [`the signature has no form that is documented: ${signature}`]),
    ...(apart <= 300 ? [] : ['webhook-timestamp is minutes away from now']),
  ];
}
