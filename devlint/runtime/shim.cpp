// What torch 2.10 brings for a backend that is written in Python and older releases lack: a device guard, the hooks
// of a backend, what autograd does with an operator that has no derivative there, empty tensors of the device, and
// other memory for a storage. `shim.py` compiles and loads it.
// It takes nothing from Python's headers, so one library serves every release of Python.

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace {

constexpr c10::DeviceType kind = c10::DeviceType::PrivateUse1;

// Everything is synchronous and on one host: a guard has nothing to switch, and nothing is ever behind.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kind; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return c10::Device(kind, 0); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}

 private:
  c10::Stream stream() const noexcept { return c10::Stream(c10::Stream::DEFAULT, c10::Device(kind, 0)); }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const { return true; }  // torch 2.6 does not ask: no `override`
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

void install() {
  static Guard guard;
  static Hooks hooks;
  static c10::impl::DeviceGuardImplRegistrar registrar(kind, &guard);
  at::RegisterPrivateUse1HooksInterface(&hooks);
}

at::Tensor blank(at::ScalarType dtype, int64_t index) {
  c10::Storage storage(c10::Storage::use_byte_size_t{}, 0, c10::GetAllocator(c10::kMeta), /*resizable=*/true);
  storage.set_data_ptr_noswap(at::DataPtr(nullptr, c10::Device(kind, static_cast<c10::DeviceIndex>(index))));
  return at::detail::make_tensor<at::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::scalarTypeToTypeMeta(dtype));
}

void release(void* host) {
  delete static_cast<c10::Storage*>(host);
}

// The storage itself owns the bytes of another. What Python remembers of a storage these releases of torch forget:
// the garbage collector clears the Python object of one that C++ still has, where it was part of a cycle.
void put(c10::Storage storage, c10::Storage host) {
  at::DataPtr bytes(host.data_ptr().get(), new c10::Storage(host), &release, storage.device());
  storage.set_data_ptr_noswap(std::move(bytes));
  storage.set_nbytes(host.nbytes());
}

// Whose bytes they are; of memory that came from elsewhere, the storage itself.
c10::Storage host(c10::Storage storage) {
  const at::DataPtr& bytes = storage.data_ptr();
  return bytes.get_deleter() == &release ? *static_cast<c10::Storage*>(bytes.get_context()) : storage;
}

}  // namespace

TORCH_LIBRARY(devlint_sim, library) {
  library.def("install() -> ()", &install);
  library.def("blank(ScalarType dtype, int index) -> Tensor", &blank);
  library.def("put(Storage storage, Storage host) -> ()", &put);
  library.def("host(Storage storage) -> Storage", &host);
}

#if LACKS_AUTOGRAD_FALLBACK
// As for every device that torch itself knows.
TORCH_LIBRARY_IMPL(_, AutogradPrivateUse1, everything) {
  everything.fallback(torch::autograd::basicAutogradNotImplementedFallback());
}
#endif
