/**
 * Replaces the decoder of meshopt in the bundle. The decoder compiles WebAssembly when it is imported, which the content
 * security policy forbids, and the viewer uses it only if `meshoptDecoderLocation` is set.
 */
export const MeshoptDecoder = { supported: false };
