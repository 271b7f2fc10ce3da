import { expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';
import { startTestGateway } from '../support/gateway.ts';

test('PUBLIC_URL is the server of the OpenAPI document that is served', async () => {
  const { publicUrl } = readSettings({ PUBLIC_URL: 'https://gateway.example/base/' });
  const target = await startTestGateway({ sandbox: false, publicUrl });
  const document = await (await fetch(`${target.url}/openapi.json`)).json();
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://gateway.example/base' }] });
  await target.close();
});
