import { type Answer, jsonOf } from './answer.ts';
import { excerpt } from './wire.ts';

/** What the gateway's own refusal must say. */
export interface Expected {
  code?: string;
  /** The field that the message blames. */
  names?: string;
  /** What the message must contain. */
  says?: readonly string[];
}

/** A message is `field: problem`; several are set apart by `; `. */
export const fieldsOf = (message: string): string[] =>
  message.split('; ').map((part) => part.split(': ', 1)[0] ?? '');

/** The sentence of an error in any family; empty when it has none. */
export function messageOf(answer: Answer): string {
  try {
    const { error, message } = jsonOf(answer) as { error?: { message?: string }; message?: string };
    return error?.message ?? message ?? '';
  } catch {
    return '';
  }
}

/** The parts of a form are named like the fields that they mean, headers in lower case, and the whole `body`. */
const plain = (field: string) =>
  (field === '' ? 'body' : field).toLowerCase().replaceAll('[]', '').replaceAll('[', '.').replaceAll(']', '');

/** Whether a message names a field, or of a union the whole of it or what stands in it. */
export function namesField(message: string, field: string): boolean {
  const wanted = plain(field);
  return (
    fieldsOf(message).some(
      (one) => `${wanted}.`.startsWith(`${plain(one)}.`) || `${plain(one)}.`.startsWith(`${wanted}.`),
    ) ||
    (wanted !== 'body' && message.toLowerCase().includes(wanted))
  );
}

/** What a refusal lacks of what it must be. */
export function refusalProblems(
  answer: Answer,
  statuses: readonly number[],
  { code, names, says = [] }: Expected = {},
): string[] {
  if (!statuses.includes(answer.status))
    return [`answered ${answer.status} instead of ${statuses.join(' or ')}: ${excerpt(answer)}`];
  const message = messageOf(answer);
  const told = (jsonOf(answer) as { error?: { code?: string } }).error?.code;
  return [
    ...(code === undefined || told === undefined || told === code
      ? []
      : [`code is ${told} instead of ${code}`]),
    ...(names === undefined || namesField(message, names) ? [] : [`${names} is not named: ${message}`]),
    ...says.filter((part) => !message.includes(part)).map((part) => `"${part}" is not said: ${message}`),
  ];
}
