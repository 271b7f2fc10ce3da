import { type HttpResponse, jsonOf } from './http-response.ts';
import { excerpt } from './wire.ts';

/** Expected content of an error of the gateway. */
export interface ExpectedError {
  code?: string;
  /** The field that the message names. */
  field?: string;
  /** Texts that the message contains. */
  includes?: readonly string[];
}

/** Returns the fields of a message. A message lists `field: problem`, separated by `; `. */
export const fieldsOf = (message: string): string[] =>
  message.split('; ').map((part) => part.split(': ', 1)[0] ?? '');

/** Returns the message of an error in any family, or an empty string. */
export function messageOf(response: HttpResponse): string {
  try {
    const { error, message } = jsonOf(response) as { error?: { message?: string }; message?: string };
    return error?.message ?? message ?? '';
  } catch {
    return '';
  }
}

/** Normalizes the names of form fields and headers. The name of the whole body is `body`. */
const normalized = (field: string) =>
  (field === '' ? 'body' : field).toLowerCase().replaceAll('[]', '').replaceAll('[', '.').replaceAll(']', '');

/** Whether a text contains a name that is not part of a longer name. */
const containsWord = (text: string, name: string) =>
  new RegExp(`(?<![\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\\w-])`).test(text);

/** Whether a message names a field, one of its parents or one of its children. */
export function namesField(message: string, field: string): boolean {
  const wanted = normalized(field);
  return (
    fieldsOf(message).some(
      (one) =>
        `${wanted}.`.startsWith(`${normalized(one)}.`) || `${normalized(one)}.`.startsWith(`${wanted}.`),
    ) ||
    (wanted !== 'body' && containsWord(message.toLowerCase(), wanted))
  );
}

/** Whether an error has the format of the management operations, which has no code. */
const isManagement = (response: HttpResponse) =>
  (jsonOf(response) as { success?: boolean }).success === false;

/** Compares an error with the expected one. Returns the differences. */
export function expectedErrorProblems(
  response: HttpResponse,
  statuses: readonly number[],
  { code, field, includes = [] }: ExpectedError = {},
): string[] {
  if (!statuses.includes(response.status))
    return [`status ${response.status} instead of ${statuses.join(' or ')}: ${excerpt(response)}`];
  const message = messageOf(response);
  const body = jsonOf(response) as { error?: { code?: string }; code?: string };
  // A provider's error on a native route is flat.
  const actual = body.error?.code ?? body.code;
  return [
    ...(code === undefined || actual === code || (actual === undefined && isManagement(response))
      ? []
      : [`code is ${actual ?? 'missing'} instead of ${code}`]),
    ...(field === undefined || namesField(message, field)
      ? []
      : [`the message does not name ${field}: ${message}`]),
    ...includes
      .filter((part) => !message.includes(part))
      .map((part) => `the message does not contain "${part}": ${message}`),
  ];
}
