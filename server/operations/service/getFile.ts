import { sendFile } from '../../calls/send-file.ts';
import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { fileNameFor, isTextFile, safeMediaType } from '../../media/file-name.ts';

/** The file behind a link of `relay_media`. The link is the permission, as with a provider's signed address. */
export const getFile: Handler<'getFile'> = async (request, reply) => {
  const { gateway, path } = request;
  const file = gateway.files.open(path.token);
  if (file === undefined || gateway.channels.named(file.channel) === undefined)
    throw new Failure(404, 'resource_not_found', 'token: the link leads to no file, or its time is over.');
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
      'content-disposition': `inline; filename="${fileNameFor(url)}"`,
      'cache-control': 'private',
      'x-content-type-options': 'nosniff',
    },
  });
};
