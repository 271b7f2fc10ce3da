import type { OperationId } from '../../generated/operations.ts';
import type { OperationRequest } from '../http/handler.ts';
import { pickDefined } from '../lib/json.ts';
import type { FileLinks } from '../media/file-links.ts';
import { wasSent } from '../media/sent-urls.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';

export function linksFor(request: OperationRequest<OperationId>): FileLinks {
  return request.gateway.files.linksFor(request.baseUrl);
}

type FileTask = Pick<TaskRecord, 'channel' | 'userId' | 'expiresAt' | 'facts'>;

export function publicFileUrl(url: string, task: FileTask, links: FileLinks): string {
  if (!links.relays(task.channel)) return url;
  const { channel, userId, expiresAt, facts } = task;
  return links.publicUrl(url, { channel, userId, expiresAt, publicOnly: wasSent(url, facts.sent_addresses) });
}

export function publicFileUrls<Name extends string>(
  from: { readonly [name in Name]?: string | undefined } | undefined,
  names: readonly Name[],
  task: FileTask,
  links: FileLinks,
): Partial<Record<Name, string>> {
  return pickDefined(names, (name) => from?.[name] && publicFileUrl(from[name], task, links));
}
