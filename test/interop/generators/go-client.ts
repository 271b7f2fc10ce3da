import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core';
import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  objects,
  operationsOf,
  refName,
} from '../../../openapi/tools/document.ts';
import type { CallResult } from './generated-calls.ts';

const run = promisify(execFile);
// Go must neither need a C compiler nor read modules from the network.
const env = { ...process.env, CGO_ENABLED: '0', GOPROXY: 'off', GOFLAGS: '-mod=mod' };

/** Whether a Go compiler is installed. */
export const hasGo = await run('go', ['version']).then(
  () => true,
  () => false,
);

/** Writes Go types of all JSON bodies of a document as package `main` into a folder. Returns the names of the types. */
export async function generateGo(openapi: JsonObject, folder: string): Promise<string[]> {
  const names = bodiesOf(openapi);
  const { schemas = {} } = deref(openapi, openapi.components);
  const pointers = JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/definitions/');
  const definitions = JSON.parse(pointers) as Json;
  const input = new JSONSchemaInput(undefined);
  for (const name of names) {
    await input.addSource({ name, schema: JSON.stringify({ $ref: `#/definitions/${name}`, definitions }) });
  }
  const inputData = new InputData();
  inputData.addInput(input);
  const { lines } = await quicktype({ inputData, lang: 'go', rendererOptions: { package: 'main' } });
  await writeFile(join(folder, 'types.go'), lines.join('\n'));
  return names;
}

/** Names of the schemas of JSON requests and successful JSON responses. */
function bodiesOf(openapi: JsonObject): string[] {
  const names = operationsOf(openapi).flatMap(({ node }) => {
    const responses = objects(node.responses).filter(([status]) => Number(status) < 300);
    return [node.requestBody, ...responses.map(([, response]) => response)].flatMap((body) => {
      const content = deref(openapi, body).content;
      const { schema } = deref(openapi, isObject(content) ? content['application/json'] : undefined);
      return isObject(schema) && typeof schema.$ref === 'string' ? [refName(schema.$ref)] : [];
    });
  });
  return [...new Set(names)];
}

/** Compiles the package in a folder with this file as its `main`. Returns the program. Throws with the compiler's errors. */
export async function buildGo(main: string, folder: string): Promise<string> {
  const program = join(folder, 'client');
  await writeFile(join(folder, 'go.mod'), 'module client\n\ngo 1.19\n');
  await writeFile(join(folder, 'main.go'), main);
  await run('go', ['vet', '.'], { cwd: folder, env });
  await run('go', ['build', '-o', program, '.'], { cwd: folder, env });
  return program;
}

/** Runs the program that `goProgram` compiles to. */
export async function callWithGo(program: string, baseUrl: string, key: string): Promise<CallResult> {
  const { stdout } = await run(program, [baseUrl, key], { maxBuffer: 64 * 1024 * 1024 });
  const { models, audio, task } = JSON.parse(stdout) as Omit<CallResult, 'audio'> & { audio: string };
  const bytes = Buffer.from(audio, 'base64');
  return { models, audio: new Uint8Array(bytes).buffer, task };
}

/** A program that uses the generated types and the standard library. It prints its result as JSON. */
export const goProgram = `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

type result struct {
	Models []string          \`json:"models"\`
	Audio  []byte            \`json:"audio"\`
	Task   map[string]string \`json:"task"\`
}

func main() {
	call := func(method, path string, body interface{}) []byte {
		sent, err := json.Marshal(body)
		check(err)
		request, err := http.NewRequest(method, os.Args[1]+path, bytes.NewReader(sent))
		check(err)
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		check(err)
		defer response.Body.Close()
		received, err := io.ReadAll(response.Body)
		check(err)
		if response.StatusCode != http.StatusOK {
			check(fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, received))
		}
		return received
	}

	models, err := UnmarshalModelListReply(call("GET", "/v1/models", nil))
	check(err)
	ids := []string{}
	for _, model := range models.Data {
		ids = append(ids, model.ID)
	}

	voice := "Aria"
	speech := SpeechRequest{Model: "alpha3-tts-flash", Input: "Good morning.", Voice: &VoiceUnion{String: &voice}}
	audio := call("POST", "/v1/audio/speech", speech)

	prompt, seconds, size := "A boat.", "2", "480P"
	video := CreateVideoRequest{
		Model: "gamma3.0-video-prime", Prompt: &prompt, Seconds: &SecondsUnion{String: &seconds}, Size: &size,
	}
	made, err := UnmarshalVideoTask(call("POST", "/v1/videos", video))
	check(err)
	polled, err := UnmarshalVideoTask(call("GET", "/v1/videos/"+made.ID, nil))
	check(err)

	check(json.NewEncoder(os.Stdout).Encode(result{
		Models: ids, Audio: audio, Task: map[string]string{"made": made.ID, "polled": polled.ID},
	}))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`;
