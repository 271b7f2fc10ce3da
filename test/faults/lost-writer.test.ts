import { expect, test } from 'vitest';
import { createDeployment } from './deployment.ts';
import { GatewayProcess } from './gateway-process.ts';

const speech = { model: 'alpha3-tts-flash', input: 'Nine char', voice: 'Aria' };

test('a gateway whose store writer has stopped reports it and exits; the next one works', {
  timeout: 120_000,
}, async () => {
  const deployment = await createDeployment('sqlite');
  const headers = { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' };
  const speak = (url: string) =>
    fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: JSON.stringify(speech) });
  try {
    const preload = new URL('./breakable-writer.ts', import.meta.url).href;
    const gateway = await GatewayProcess.start({ ...deployment.options, preload });
    expect((await speak(gateway.url)).status).toBe(200);
    gateway.kill('SIGUSR2');
    const ended = await gateway.ended;
    expect(ended).toMatchObject({ code: 1, signal: null });
    expect(ended.stderr).toMatch(
      /^the gateway ends, because its store has failed: .*the store writer has stopped/m,
    );
    const next = await GatewayProcess.start(deployment.options);
    expect((await speak(next.url)).status).toBe(200);
    next.kill();
    await next.waitForKill();
  } finally {
    await deployment.remove();
  }
});
