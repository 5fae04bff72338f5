/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"

#include "text.h"

#include <ctype.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* The last name in a C++ symbol: of "_ZZ1kILi16EEvPfE1s" that is "s". */
static char *plain_name(const char *symbol)
{
    const char *found = symbol;
    size_t length = strcspn(symbol, ".");
    for (const char *at = symbol; strncmp(symbol, "_Z", 2) == 0 && *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > symbol && isdigit((unsigned char)at[-1])))
            continue;
        char *name;
        const unsigned long own = strtoul(at, &name, 10);
        if (own == 0 || own > strlen(name))
            continue;
        const char *rest = name + own;
        rest += *rest == 'E';
        if (*rest == '_')
            rest += 1 + strspn(rest + 1, "0123456789");
        if (*rest && *rest != '.')
            continue;
        found = name;
        length = own;
    }
    return strndup(found, length);
}

/* Objects that the compiler makes for itself. */
static bool is_hidden(const char *name)
{
    static const char *const prefixes[] = {
        "_ZGV",      "_ZTV",       "_ZTI",     "_ZTS",
        "__",        "xg_",        "_ZStL",    "_ZZ14before_start",
        "_ZL5hooks", "completed.", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_",
        "_ZL4none"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return !*name;
}

/* The parts of the file that are asked for. */
typedef struct {
    const char *bytes;
    size_t length;
    const ElfW(Ehdr) * header;
    const ElfW(Shdr) * sections;
    const char *section_names;
    const ElfW(Shdr) * symbols;
} elf;

/* Whether so many bytes are in the file from there on. */
static bool has(const elf *file, uint64_t at, uint64_t bytes)
{
    return at <= file->length && bytes <= file->length - at;
}

static bool open_elf(elf *file)
{
    if (file->length < sizeof *file->header || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    file->header = (const void *)file->bytes;
    const uint64_t count = file->header->e_shnum;
    if (!has(file, file->header->e_shoff, count * sizeof *file->sections) ||
        file->header->e_shstrndx >= count)
        return false;
    file->sections = (const void *)(file->bytes + file->header->e_shoff);
    file->section_names = file->bytes + file->sections[file->header->e_shstrndx].sh_offset;
    for (uint64_t i = 0; i < count; i++)
        if (file->sections[i].sh_type == SHT_SYMTAB &&
            has(file, file->sections[i].sh_offset, file->sections[i].sh_size) &&
            file->sections[i].sh_link < count)
            file->symbols = &file->sections[i];
    return file->symbols != NULL;
}

static bool add_object(xg_image *image, const elf *file, const ElfW(Sym) * symbol, const char *name)
{
    const ElfW(Shdr) *section = &file->sections[symbol->st_shndx];
    const bool local = (symbol->st_info & 0xf) == STT_TLS;
    if (!local && !(section->sh_flags & SHF_WRITE))
        return true;
    xg_image_object *object = &image->objects[image->count++];
    *object = (xg_image_object){
        .name = plain_name(name),
        .at = symbol->st_value,
        .bytes = symbol->st_size,
        .is_local = local,
        .is_constant = strcmp(file->section_names + section->sh_name, "xg_constant") == 0};
    return object->name != NULL;
}

static bool take_objects(xg_image *image, const elf *file)
{
    const ElfW(Sym) *symbols = (const void *)(file->bytes + file->symbols->sh_offset);
    const size_t count = file->symbols->sh_size / sizeof *symbols;
    const char *names = file->bytes + file->sections[file->symbols->sh_link].sh_offset;
    image->objects = calloc(count + 1, sizeof *image->objects);
    if (!image->objects)
        return false;
    for (size_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        const int type = symbol->st_info & 0xf;
        const char *name = names + symbol->st_name;
        if ((type != STT_TLS && type != STT_OBJECT) || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_shndx >= file->header->e_shnum)
            continue;
        if (strcmp(name, "xg_dynamic") == 0)
            image->dynamic = symbol->st_value;
        else if (!is_hidden(name) && symbol->st_size > 0 && !add_object(image, file, symbol, name))
            return false;
    }
    return true;
}

/* Names of the dynamic shared memory, which all begin where it does. */
static void drop_dynamic(xg_image *image)
{
    bool several = false;
    int kept = 0;
    for (int i = 0; i < image->count; i++) {
        char *name = image->objects[i].name;
        if (image->objects[i].is_local && image->objects[i].at == image->dynamic) {
            several |= image->dynamic_name && strcmp(image->dynamic_name, name) != 0;
            free(image->dynamic_name);
            image->dynamic_name = name;
        } else
            image->objects[kept++] = image->objects[i];
    }
    image->count = kept;
    if (several) {
        free(image->dynamic_name);
        image->dynamic_name = NULL;
    }
}

xgemm_status xg_image_read(const char *path, xg_image *image, xg_error *error)
{
    xg_text text = {NULL, 0, 0, false};
    memset(image, 0, sizeof *image);
    const bool read = xg_text_read(&text, path);
    elf file = {.bytes = text.at, .length = text.length};
    bool good = read && open_elf(&file) && take_objects(image, &file);
    if (good) {
        drop_dynamic(image);
        const ElfW(Phdr) *parts = (const void *)(file.bytes + file.header->e_phoff);
        for (int i = 0; i < file.header->e_phnum; i++)
            if (parts[i].p_type == PT_LOAD &&
                parts[i].p_vaddr + parts[i].p_memsz > image->image_bytes)
                image->image_bytes = parts[i].p_vaddr + parts[i].p_memsz;
    }
    xg_text_free(&text);
    return good ? XGEMM_OK
                : xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                          "the compiled kernel in %s cannot be read", path);
}

void xg_image_free(xg_image *image)
{
    for (int i = 0; i < image->count; i++)
        free(image->objects[i].name);
    free(image->objects);
    free(image->dynamic_name);
    memset(image, 0, sizeof *image);
}

const xg_image_object *xg_image_variable(const xg_image *image, const char *name)
{
    for (int i = 0; i < image->count; i++)
        if (!image->objects[i].is_local && strcmp(image->objects[i].name, name) == 0)
            return &image->objects[i];
    return NULL;
}
