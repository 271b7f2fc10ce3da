import type { ServerResponse } from 'node:http';
import type { OperationFacts } from '../../generated/operations.ts';

/** Adds the headers of a deprecated operation: `deprecation` (RFC 9745) and `sunset` (RFC 8594). */
export function setDeprecation(
  response: Pick<ServerResponse, 'setHeader'>,
  { sunset }: Pick<OperationFacts, 'sunset'>,
): void {
  if (sunset === undefined) return;
  response.setHeader('deprecation', `@${Date.parse(sunset.since) / 1000}`);
  response.setHeader('sunset', new Date(sunset.date).toUTCString());
}
