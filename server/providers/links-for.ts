import type { OperationId } from '../../generated/operations.ts';
import type { OperationRequest } from '../http/handler.ts';
import type { FileLinks } from '../media/file-links.ts';
import { wasSent } from '../media/sent-urls.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';

/** How the client that asks is shown files. */
export function linksFor(request: OperationRequest<OperationId>): FileLinks {
  return request.gateway.files.linksFor(addressFor(request));
}

/** The address at which this client reaches the gateway; undefined when neither the operator nor the client tells. */
function addressFor({ gateway, headers }: OperationRequest<OperationId>): string | undefined {
  const { publicUrl, tls } = gateway.settings;
  if (publicUrl !== undefined) return publicUrl;
  const url = URL.parse(`${tls === undefined ? 'http' : 'https'}://${headers.host ?? ''}`);
  // The header is the client's own text: only a host may stand in it.
  return url !== null && url.href === `${url.origin}/` ? url.origin : undefined;
}

/** A task, as far as links to its files need it. */
type FileTask = Pick<TaskRecord, 'channel' | 'userId' | 'expiresAt' | 'facts'>;

/** The address of a task's file as a client is shown it. */
export function shownFile(url: string, task: FileTask, links: FileLinks): string {
  if (!links.relays(task.channel)) return url;
  const { channel, userId, expiresAt, facts } = task;
  return links.publicUrl(url, { channel, userId, expiresAt, publicOnly: wasSent(url, facts.sent_addresses) });
}

/** Those of the named addresses of a task's files that are there, as a client is shown them. */
export function shownFiles<Name extends string>(
  from: { readonly [name in Name]?: string | undefined } | undefined,
  names: readonly Name[],
  task: FileTask,
  links: FileLinks,
): { [name in Name]?: string } {
  const shown: { [name in Name]?: string } = {};
  for (const name of names) {
    const url = from?.[name];
    if (url !== undefined) shown[name] = shownFile(url, task, links);
  }
  return shown;
}
