import { createInterface } from 'node:readline';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { MessageRequest } from '../messages.ts';
import type { Unigate } from '../unigate.ts';
import type { Invocation, Options } from './command-line.ts';
import { readCount } from './task-options.ts';
import { printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const defaultModel = 'iota-chat-1';
const defaultMaxTokens = 1_024;

type Conversation = MessageRequest['messages'];

/** `unigate chat`: prints the answer to a message while it is generated. Without a message, each line of input is one. */
export async function chat(
  client: Unigate,
  { text, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const request = readRequest(options);
  const conversation: Conversation = [];
  for await (const message of readMessages(text, terminal, signal)) {
    conversation.push({ role: 'user', content: message });
    const answer = await printAnswer(
      client,
      { ...request, messages: conversation },
      options,
      terminal,
      signal,
    );
    conversation.push({ role: 'assistant', content: answer });
  }
  if (conversation.length === 0) throw new UsageError('The message is empty.');
}

function readRequest(options: Options): Omit<MessageRequest, 'messages'> {
  const { model = defaultModel, system } = options;
  const max_tokens = readCount(options, 'max-tokens') ?? defaultMaxTokens;
  return { model, max_tokens, ...(system !== undefined && { system }) };
}

/** Yields the messages of the user: the argument, all of standard input for `-`, or its lines without an argument. */
async function* readMessages(
  text: string,
  { stdin, stderr }: Terminal,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const input = addAbortSignal(signal, stdin);
  if (text !== '') {
    const message = text === '-' ? await readText(input) : text;
    if (message.trim() !== '') yield message;
    return;
  }
  const prompt = () => void (stderr.isTTY && stderr.write('> '));
  prompt();
  for await (const line of createInterface({ input })) {
    if (line.trim() !== '') yield line;
    prompt();
  }
}

/** Prints the parts of an answer as they arrive. Returns the whole answer. */
async function printAnswer(
  client: Unigate,
  request: MessageRequest,
  { quiet }: Options,
  { stdout, stderr }: Terminal,
  signal: AbortSignal,
): Promise<string> {
  let answer = '';
  for await (const event of client.messages.events(request, { signal })) {
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      answer += event.delta.text;
      stdout.write(printable(event.delta.text));
    }
    if (event.type === 'message_delta' && event.delta.stop_reason === 'max_tokens' && !quiet)
      stderr.write(`The answer ends at ${request.max_tokens} tokens; raise --max-tokens.\n`);
  }
  stdout.write('\n');
  return answer;
}
