import { describe, expect, test } from 'vitest';
import { startStubServer } from './stub-server.ts';
import { runCommand } from './terminal.ts';

type Body = Record<string, unknown>;

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Responds to each message with two parts of text and a stop reason. */
async function startChatServer(stop_reason = 'end_turn', text = 'tide.\u001b[2J') {
  const bodies: Body[] = [];
  const url = await startStubServer(async (request, response) => {
    bodies.push(JSON.parse(Buffer.concat(await request.toArray()).toString()) as Body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of ['Low ', text])
      response.write(
        event({ type: 'content_block_delta', delta: { type: 'text_delta', text: part } } as never),
      );
    response.end(event({ type: 'message_delta', delta: { stop_reason } } as never));
  });
  return { bodies, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
}

describe('chat', () => {
  test('prints the answer to a message without control characters', async () => {
    const { bodies, env } = await startChatServer();
    const options = ['--model', 'm', '--system', 'Be brief.', '--max-tokens', '9'];
    const { code, stdout } = await runCommand(['chat', 'When?', ...options], { env });
    expect([code, stdout.toString()]).toEqual([0, 'Low tide.[2J\n']);
    const messages = [{ role: 'user', content: 'When?' }];
    expect(bodies).toEqual([{ model: 'm', system: 'Be brief.', max_tokens: 9, stream: true, messages }]);
  });

  test('reads a message from standard input', async () => {
    const { bodies, env } = await startChatServer();
    await runCommand(['chat', '-'], { env, stdin: 'Two\nlines.' });
    expect(bodies).toMatchObject([
      { model: 'iota-chat-1', max_tokens: 1_024, messages: [{ content: 'Two\nlines.' }] },
    ]);
  });

  test('without a message holds a conversation, one line at a time', async () => {
    const { bodies, env } = await startChatServer('end_turn', 'tide.');
    const { stdout, stderr } = await runCommand(['chat'], { env, stdin: 'One.\n\nTwo.\n', isTTY: true });
    expect(stdout.toString()).toBe('Low tide.\nLow tide.\n');
    expect(stderr).toBe('> > > > ');
    expect(bodies[1]?.messages).toEqual([
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Low tide.' },
      { role: 'user', content: 'Two.' },
    ]);
  });

  test('reports an answer that was cut off', async () => {
    const { env } = await startChatServer('max_tokens');
    const { stderr } = await runCommand(['chat', 'When?', '--max-tokens', '3'], { env });
    expect(stderr).toBe('The answer ends at 3 tokens; raise --max-tokens.\n');
    expect((await runCommand(['chat', 'When?', '-q'], { env })).stderr).toBe('');
  });

  test.each([
    [['chat', ' '], 'The message is empty.'],
    [['chat'], 'The message is empty.'],
    [['chat', 'Hi.', '--max-tokens', '0'], '--max-tokens must be a whole number above 0.'],
  ])('%j is refused', async (args, message) => {
    const { bodies, env } = await startChatServer();
    expect(await runCommand(args, { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
    expect(bodies).toEqual([]);
  });
});

describe('embed', () => {
  async function startEmbeddingServer() {
    const bodies: Body[] = [];
    const url = await startStubServer(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Body;
      bodies.push(body);
      const data = (body.input as string[]).map((_, index) => ({ index, embedding: [index, 0.5] }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
    });
    return { bodies, env: { UNIGATE_BASE_URL: url, UNIGATE_API_KEY: 'sk-test' } };
  }

  test('prints a vector per line', async () => {
    const { bodies, env } = await startEmbeddingServer();
    const { stdout } = await runCommand(['embed', '-'], { env, stdin: 'One.\r\n\nTwo.\n' });
    expect(stdout.toString()).toBe('[0,0.5]\n[1,0.5]\n');
    await runCommand(['embed', 'One.', '--model', 'm', '--dimensions', '2'], { env });
    expect(bodies).toEqual([
      { model: 'theta-embedding-1', input: ['One.', 'Two.'], encoding_format: 'float' },
      { model: 'm', input: ['One.'], encoding_format: 'float', dimensions: 2 },
    ]);
  });

  test('prints the response with --json', async () => {
    const { env } = await startEmbeddingServer();
    const { stdout } = await runCommand(['embed', 'One.', '--json'], { env });
    expect(JSON.parse(stdout.toString())).toMatchObject({ data: [{ index: 0 }] });
  });

  test.each([
    [['embed', '-'], 'The text is empty.'],
    [['embed', 'Hi.', '--dimensions', '1.5'], '--dimensions must be a whole number above 0.'],
  ])('%j is refused', async (args, message) => {
    const { env } = await startEmbeddingServer();
    expect(await runCommand(args, { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});
