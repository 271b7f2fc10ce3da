import { Document, type Material, NodeIO, type Texture } from '@gltf-transform/core';
import { encodePng } from '../images/encode.ts';
import { rasterize } from '../images/rasterize.ts';
import type { ModelPlan } from '../jobs.ts';
import { createMesh } from './mesh.ts';
import { chooseColor, chooseShape } from './shape.ts';
import { createTextureSvg } from './texture.ts';

/** Renders a GLB with one textured mesh. */
export async function renderModel(plan: ModelPlan): Promise<Uint8Array<ArrayBuffer>> {
  const document = new Document();
  const buffer = document.createBuffer();
  const [around, along] = plan.fine ? [256, 128] : [96, 64];
  const mesh = createMesh(chooseShape(plan.prompt), around, along);
  const accessor = (
    type: 'SCALAR' | 'VEC2' | 'VEC3',
    values: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>,
  ) => document.createAccessor().setType(type).setArray(values).setBuffer(buffer);
  const primitive = document
    .createPrimitive()
    .setAttribute('POSITION', accessor('VEC3', mesh.positions))
    .setAttribute('NORMAL', accessor('VEC3', mesh.normals))
    .setAttribute('TEXCOORD_0', accessor('VEC2', mesh.textureCoordinates))
    .setIndices(accessor('SCALAR', mesh.indices))
    .setMaterial(await createMaterial(document, plan));
  const node = document
    .createNode(plan.prompt.slice(0, 100))
    .setMesh(document.createMesh().addPrimitive(primitive));
  document.getRoot().setDefaultScene(document.createScene().addChild(node));
  return new Uint8Array(await new NodeIO().writeBinary(document));
}

async function createMaterial(document: Document, plan: ModelPlan): Promise<Material> {
  const material = document
    .createMaterial()
    .setMetallicFactor(0)
    .setRoughnessFactor(0.8)
    .setDoubleSided(true);
  const size = plan.textureSize;
  if (size === undefined) {
    const [red, green, blue] = chooseColor(plan.prompt);
    return material.setBaseColorFactor([red / 255, green / 255, blue / 255, 1]);
  }
  const image = await rasterize(createTextureSvg(plan, size), (raster) => new Uint8Array(raster.asPng()));
  material.setBaseColorTexture(createTexture(document, 'base colour', image));
  if (!plan.pbr) return material;
  return material
    .setRoughnessFactor(1)
    .setMetallicFactor(1)
    .setMetallicRoughnessTexture(createTexture(document, 'metal and roughness', roughnessMap(64)));
}

function createTexture(document: Document, name: string, image: Uint8Array<ArrayBuffer>): Texture {
  return document.createTexture(name).setMimeType('image/png').setImage(image);
}

/** Creates a texture that is rougher at the bottom. Green is the roughness, blue the metalness. */
function roughnessMap(size: number): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(size * size * 4);
  for (let pixel = 0; pixel < size * size; pixel++)
    data.set([0, 80 + Math.round((Math.floor(pixel / size) / size) * 160), 20, 255], pixel * 4);
  return encodePng({ width: size, height: size, data });
}
