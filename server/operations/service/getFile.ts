import { sendFile } from '../../calls/send-file.ts';
import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { fileNameFor, isTextFile, safeMediaType } from '../../media/file-name.ts';

/** Returns the file of a `relay_media` link. The link authorizes the request, like a provider's signed URL. */
export const getFile: Handler<'getFile'> = async (request, reply) => {
  const { gateway, path } = request;
  const file = gateway.files.open(path.token);
  if (file === undefined || gateway.channels.named(file.channel) === undefined)
    throw notFound('token', 'the link is invalid or has expired.');
  const { url, channel, userId: user, publicOnly } = file;
  await sendFile(request, reply, {
    field: 'token',
    url,
    channel,
    user,
    publicOnly,
    text: isTextFile(url),
    typeFor: (reported) => safeMediaType(url, reported),
    headers: {
      // Also without an Origin header: a browser may reuse the response for a later request of a page's script.
      'access-control-allow-origin': '*',
      'content-disposition': `inline; filename="${fileNameFor(url)}"`,
      'cache-control': 'private',
      'x-content-type-options': 'nosniff',
    },
  });
};
