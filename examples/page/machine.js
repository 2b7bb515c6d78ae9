// SPDX-License-Identifier: MIT
// The machine of page.cpp, seen from JavaScript.

export const side = 280; // of the canvas
const read = 140; // what of it the machine is shown, as page.cpp has it: less to copy, as much to see
const voices = 6;

// Where a browser asks for nothing: no files, no environment, no clock.
const system = new Proxy({}, { get: () => () => 52 });

// What a file holds; packed by gzip where it begins as that does. (A server may have unpacked it.)
async function bytesOf(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  const bytes = await response.arrayBuffer();
  const start = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (start[0] !== 0x1f || start[1] !== 0x8b) return bytes;
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

export class Machine {
  static async load(folder) {
    const [program, model, facts] = await Promise.all([
      bytesOf(`${folder}/page.wasm`), bytesOf(`${folder}/digits.model`),
      bytesOf(`${folder}/facts.json`).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)))]);
    const machine = new Machine();
    machine.module = await WebAssembly.compile(program);
    machine.model = new Uint8Array(model);
    machine.facts = facts;
    await machine.start();
    await machine.warm();
    return machine;
  }

  // A browser compiles what is called often again, and better: the first digit shall not wait for it.
  async warm() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    for (let i = 0; i < 40; ++i) {
      draw(context, this.picture(i % this.support).image, [0, 0, 0]);
      await this.classify(canvas);
    }
  }

  constructor() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = read;
    this.context = canvas.getContext("2d", { willReadFrequently: true });
  }

  async start() {
    const text = (address) => {
      const bytes = new Uint8Array(this.wasm.memory.buffer, address);
      return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    };
    const instance = await WebAssembly.instantiate(this.module, {
      page: { failed: (address) => { throw new Error(text(address)); } },
      wasi_snapshot_preview1: system });
    this.wasm = instance.exports;
    this.wasm._initialize();
    const address = this.wasm.file_memory(this.model.length);
    new Uint8Array(this.wasm.memory.buffer, address, this.model.length).set(this.model);
    this.support = this.wasm.read_model();
  }

  // What the machine says of what is drawn on a canvas of side x side pixels; null of an empty one. The
  // ink is where the canvas is opaque, whatever its colour. After an error the instance is not used again.
  async classify(canvas) {
    this.context.clearRect(0, 0, read, read);
    this.context.drawImage(canvas, 0, 0, read, read);
    const drawn = this.context.getImageData(0, 0, read, read).data;
    const grey = new Uint8Array(this.wasm.memory.buffer, this.wasm.canvas_memory(), read * read);
    for (let i = 0; i < grey.length; ++i) grey[i] = drawn[4 * i + 3];
    let address;
    try {
      address = this.wasm.classify();
    } catch (error) {
      await this.start();
      throw error;
    }
    const view = new DataView(this.wasm.memory.buffer, address); // struct Answer
    const label = view.getInt32(88, true);
    if (label < 0) return null;
    const heard = (offset) => {
      const list = [];
      for (let i = 0; i < voices; ++i) {
        const part = view.getFloat32(offset + 8 * i + 4, true);
        if (part !== 0) list.push({ support: view.getInt32(offset + 8 * i, true), part });
      }
      return list;
    };
    return {
      label, second: view.getInt32(92, true), score: view.getFloat64(0, true),
      probabilities: Array.from({ length: 10 }, (_, i) => view.getFloat64(8 + 8 * i, true)),
      for: heard(96), against: heard(96 + 8 * voices),
      image: new Uint8Array(this.wasm.memory.buffer, address + 96 + 16 * voices, 784).slice() };
  }

  // A training digit: its 28 x 28 grey levels and its class.
  picture(support) {
    const address = this.wasm.picture(support);
    return { image: new Uint8Array(this.wasm.memory.buffer, address, 784).slice(),
             label: this.wasm.picture_label(support) };
  }
}

// 28 x 28 grey levels as ink of a colour (red, green, blue) on a canvas of that size.
export function paint(canvas, image, [red, green, blue]) {
  canvas.width = canvas.height = 28;
  const data = new ImageData(28, 28);
  for (let i = 0; i < 784; ++i) data.data.set([red, green, blue, image[i]], 4 * i);
  canvas.getContext("2d").putImageData(data, 0, 0);
}

// An image of a file drawn over all of the canvas, smoothed.
export function draw(context, image, ink) {
  const small = document.createElement("canvas");
  paint(small, image, ink);
  context.clearRect(0, 0, side, side);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, side, side);
}

// Test digits with their classes, and those that the C++ program gave them.
export async function testDigits(folder) {
  const bytes = new Uint8Array(await bytesOf(`${folder}/test.digits`));
  const count = bytes.length / 786;
  return { count, image: (i) => bytes.subarray(784 * i, 784 * (i + 1)),
           label: (i) => bytes[784 * count + i], cpp: (i) => bytes[785 * count + i] };
}
