import type { AddressInfo } from 'node:net';
import { characters, multimodalPath, speechPath, synthesizerPath } from './cases.ts';
import { chunkedResponse, createStubServer, fixedResponse, notFound } from './http-stub.ts';
import { audioFile, chatReply, completionEvents, speechEvents, speechReply } from './payloads.ts';

// The upstream of the HTTP benchmark. It answers immediately from memory.

let reply = notFound;
let events = notFound;
const completion = fixedResponse('application/json', Buffer.from(JSON.stringify(chatReply())));
const completionStream = chunkedResponse('text/event-stream', completionEvents());
const file = fixedResponse('audio/mpeg', audioFile);

const server = createStubServer((head) => {
  const line = head.slice(0, head.indexOf('\r\n'));
  if (line.startsWith('get /files/')) return file;
  if (line.startsWith(`post ${synthesizerPath.toLowerCase()} `)) {
    return head.includes('\r\nx-native-sse: enable') ? events : reply;
  }
  if (line.startsWith(`post ${multimodalPath} `)) return reply;
  if (line.startsWith('post /v1/chat/completions ')) return completion;
  if (line.startsWith('post /v1/completions ')) return completionStream;
  // For direct rounds only: the response that a client gets for the two calls of this route.
  if (line.startsWith(`post ${speechPath} `)) return file;
  return notFound;
});

server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/files/speech.mp3?Expires=4102444800&Signature=9f2c41d07be64a8d`;
  reply = fixedResponse('application/json', Buffer.from(JSON.stringify(speechReply(url, characters))));
  events = chunkedResponse('text/event-stream', speechEvents(url, characters));
  console.log(`listening on ${origin}`);
});
