import type { OperationId } from '../../generated/operations.ts';
import type { FileLinks, FileOwner } from '../files/file-links.ts';
import type { OperationRequest } from '../http/handler.ts';

/** How the client that asks is shown files. */
export function linksFor(request: OperationRequest<OperationId>): FileLinks {
  return request.gateway.files.linksAt(addressFor(request));
}

/** The address at which this client reaches the gateway; undefined when neither the operator nor the client tells. */
function addressFor({ gateway, headers }: OperationRequest<OperationId>): string | undefined {
  const { publicUrl, tls } = gateway.settings;
  if (publicUrl !== undefined) return publicUrl;
  const url = URL.parse(`${tls === undefined ? 'http' : 'https'}://${headers.host ?? ''}`);
  // The header is the client's own text: only a host may stand in it.
  return url !== null && url.href === `${url.origin}/` ? url.origin : undefined;
}

/** Those of the named addresses of files that are there, as a client is shown them. */
export function shownFiles<Name extends string>(
  from: { readonly [name in Name]?: string | undefined } | undefined,
  names: readonly Name[],
  owner: FileOwner,
  links: FileLinks,
): { [name in Name]?: string } {
  const shown: { [name in Name]?: string } = {};
  for (const name of names) {
    const url = from?.[name];
    if (url !== undefined) shown[name] = links.shown(url, owner);
  }
  return shown;
}
