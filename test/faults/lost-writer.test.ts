import { expect, test } from 'vitest';
import { GatewayProcess } from './gateway-process.ts';
import { makeSite } from './site.ts';

const speech = { model: 'alpha3-tts-flash', input: 'Nine char', voice: 'Aria' };

test('a gateway whose writer has ended says so and ends; the next one goes on', {
  timeout: 120_000,
}, async () => {
  const site = await makeSite('sqlite');
  const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
  const speak = (url: string) =>
    fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: JSON.stringify(speech) });
  try {
    const preload = new URL('./breakable-writer.ts', import.meta.url).href;
    const gateway = await GatewayProcess.start({ ...site.options, preload });
    expect((await speak(gateway.url)).status).toBe(200);
    gateway.kill('SIGUSR2');
    const ended = await gateway.ended;
    expect(ended).toMatchObject({ code: 1, signal: null });
    expect(ended.said).toMatch(
      /^the gateway ends, since its store has failed: .*the store writer has stopped/m,
    );
    const next = await GatewayProcess.start(site.options);
    expect((await speak(next.url)).status).toBe(200);
    next.kill();
    await next.killed();
  } finally {
    await site.remove();
  }
});
