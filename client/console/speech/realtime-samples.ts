import type { RealtimeSessionOptions } from '../../../generated/events.ts';
import type { Samples } from '../calls/samples.ts';
import { gatewayUrl } from '../session/session.ts';

/** Returns a session that speaks the text, with the typed client and with Python. */
export function realtimeSamples(model: string, options: RealtimeSessionOptions, text: string): Samples {
  const rate = options.sample_rate ?? 24_000;
  const spoken = JSON.stringify(text);
  const address = `${gatewayUrl.replace(/^http/, 'ws')}/api-ws/v1/realtime?model=${model}`;
  return {
    TypeScript: `import { writeFile } from 'node:fs/promises';
import { Unigate, wavHeader } from '@unigate/client';

// Reads UNIGATE_API_KEY.
const client = new Unigate({ baseUrl: '${gatewayUrl}' });
const session = await client.realtime('${model}');
await session.update(${JSON.stringify(options, undefined, 2)});
session.append(${spoken});
session.finish();
const pcm = Buffer.concat(await Array.fromAsync(session.audio()));
await writeFile('speech.wav', Buffer.concat([wavHeader(${rate}, pcm.length), pcm]));
console.log(await session.close());`,
    Python: `import asyncio, base64, json, os, uuid, wave
from websockets.asyncio.client import connect

async def main():
    headers = {"Authorization": f"Bearer {os.environ['UNIGATE_API_KEY']}"}
    async with connect("${address}", additional_headers=headers) as socket:
        async def send(event):
            await socket.send(json.dumps({"event_id": str(uuid.uuid4()), **event}))

        await send({"type": "session.update", "session": ${JSON.stringify(options)}})
        pcm = b""
        async for message in socket:
            event = json.loads(message)
            if event["type"] == "session.updated":
                await send({"type": "input_text_buffer.append", "text": ${spoken}})
                await send({"type": "session.finish"})
            elif event["type"] == "response.audio.delta":
                pcm += base64.b64decode(event["delta"])
            elif event["type"] == "session.finished":
                break
        with wave.open("speech.wav", "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(${rate})
            file.writeframes(pcm)

asyncio.run(main())`,
  };
}
